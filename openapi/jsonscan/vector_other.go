//go:build !amd64 || purego

package jsonscan

// plainRun returns the length of the plain ASCII at the start of text: no quote, no backslash, no control character,
// nothing from 0x80 on. If the run reaches the end of text it may be up to 15 bytes too small.
func plainRun(text []byte) int { return plainWords(text) }

// visibleRun is [VisibleRun] where words of eight bytes are as good.
func visibleRun([]byte, bool) int { return 0 }

// escapeRun escapes text into room. It stops before the eight bytes that contain a control character, before the last
// seven bytes, and if room may have fewer than 24 bytes left. It returns the bytes read and written.
func escapeRun(room, text []byte) (read, written int) { return escapeWords(room, text) }
