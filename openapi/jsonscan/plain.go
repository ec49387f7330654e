package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// Words of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
	low7  = 0x7f7f7f7f7f7f7f7f
)

// special marks, in the high bit of each byte, the bytes of w that end a plain run inside a string: quote, backslash
// and control characters. The lowest mark is exact; marks above it may be false.
func special(w uint64) uint64 {
	// Flipping bit 1 moves the quote to 0x20 and keeps control characters below it, so that one comparison finds
	// both: less than 0x21.
	low := (w ^ 0x02*ones) - 0x21*ones
	slash := (w ^ '\\'*ones) - ones
	return (low | slash) &^ w & highs
}

// VisibleRun returns the length of the printable ASCII at the start of text, with slashes up to the first backslash. It
// may be too small, by up to 15 bytes if the run reaches the end of text, and by all of it if the processor has no fast
// implementation.
func VisibleRun(text []byte, slashes bool) int { return visibleRun(text, slashes) }

// longRun is the number of plain words that make it likely that many more follow.
const longRun = 12

// plainWords is [plainRun] by words of eight bytes: it does not detect a run in the last seven.
func plainWords(b []byte) int {
	n := 0
	for words := 1; n+8 <= len(b); words++ {
		w := binary.LittleEndian.Uint64(b[n:])
		if m := special(w) | w&highs; m != 0 {
			return n + bits.TrailingZeros64(m)>>3
		}
		n += 8
		if words == longRun {
			n += plainBlocks(b[n:])
		}
	}
	return n
}

// plainBlocks returns the length of the plain ASCII at the start of b, in steps of 32 bytes.
func plainBlocks(b []byte) int {
	n := 0
	for n+32 <= len(b) {
		block := b[n : n+32]
		w0, w1 := binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])
		w2, w3 := binary.LittleEndian.Uint64(block[16:]), binary.LittleEndian.Uint64(block[24:])
		if special(w0)|special(w1)|special(w2)|special(w3)|(w0|w1|w2|w3)&highs != 0 {
			break
		}
		n += 32
	}
	return n
}
