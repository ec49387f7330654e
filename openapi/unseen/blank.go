package unseen

import (
	"unicode"
	"unicode/utf8"
)

// Blank tells whether there is nothing to see in a text: it is empty, or has nothing but white space and characters that have no shape of
// their own. The interfaces of models refuse a message with a text of white space alone, and every later one of the conversation.
func Blank(text []byte) bool {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c > ' ' && c != 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 || !isShapeless(r) {
			return false
		}
		i += n
	}
	return true
}

// isShapeless tells whether a character leaves no ink.
func isShapeless(r rune) bool {
	switch r {
	case 0x2800, 0x1d159: // a pattern of Braille without dots, a note without a head
		return true
	}
	return Is(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Zs, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
