//go:build amd64 && !purego

package jsonscan

// plainRun returns the length of the plain ASCII at the start of text: no quote, no backslash, no control character,
// nothing from 0x80 on. Where the run comes to the end of text it may be up to 15 bytes too small.
// It needs SSE2, which every amd64 has.
//
//go:noescape
func plainRun(text []byte) int

// visibleRun is [VisibleRun]. It needs SSE2.
//
//go:noescape
func visibleRun(text []byte, slashes bool) int

// escapeRun escapes text into room. It stops before the eight bytes that contain a control character, before the last
// seven bytes, and if room may have fewer than 24 bytes left. It returns the bytes read and written.
func escapeRun(room, text []byte) (read, written int) {
	if hasShuffle {
		read, written = escapeBlocks(room, text, &spreads)
	}
	n, j := escapeWords(room[written:], text[read:])
	return read + n, written + j
}

// escapeBlocks is escapeRun by blocks of 16 bytes: it stops before a block with a control character, and where
// text has fewer than 16 bytes left or room fewer than 32. It needs SSSE3 and POPCNT. Bytes that it writes behind
// those that it reports are not part of the result, but always within room.
//
//go:noescape
func escapeBlocks(room, text []byte, spreads *[256]spread) (read, written int)

// hasShuffle reports whether the processor has the instructions of escapeBlocks, as all since 2008 do. It is never
// written to.
var hasShuffle = shuffles()

// shuffles queries the processor for SSSE3 and POPCNT. Neither needs the operating system's support.
func shuffles() bool

// A spread is a distribution of eight bytes over sixteen: each of the sixteen is the index of one of the eight, or 8
// for a backslash. Indexes after the last of the eight are not used.
type spread [16]uint8

// spreads has the spread for each set of bytes that need a backslash. It is never written to.
var spreads = allSpreads()

func allSpreads() (all [256]spread) {
	for set := range all {
		j := 0
		for k := range uint8(8) {
			if set>>k&1 != 0 {
				all[set][j] = 8
				j++
			}
			all[set][j] = k
			j++
		}
	}
	return all
}
