package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// ellipsis stands for what is left out of a text.
const ellipsis = "…"

// cells returns how many cells of a terminal a character takes: 2 for a wide one of East Asia, 0 for a mark on the one before
// it.
func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Cells returns how many cells of a terminal a text of one line takes.
func Cells(text string) (n int) {
	for _, r := range text {
		n += cells(r)
	}
	return n
}

// Truncate returns a text of at most n cells. One that was longer ends in an ellipsis.
func Truncate(text string, n int) string {
	if Cells(text) <= n {
		return text
	}
	if n <= 0 {
		return ""
	}
	room := n - 1 // of the ellipsis
	end := 0
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if room -= cells(r); room < 0 {
			break
		}
		end += size
	}
	return strings.TrimRight(text[:end], " ") + ellipsis
}
