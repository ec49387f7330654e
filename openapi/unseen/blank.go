package unseen

import (
	"unicode"
	"unicode/utf8"
)

// Blank reports whether a text has no visible characters: it is empty, or has only white space and characters without a
// glyph. Model APIs refuse a message with a text of only white space, and every later one of the conversation.
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
		if r == utf8.RuneError && n == 1 || !hasNoGlyph(r) {
			return false
		}
		i += n
	}
	return true
}

// hasNoGlyph reports whether a character has an empty glyph.
func hasNoGlyph(r rune) bool {
	switch r {
	case 0x2800, 0x1d159: // a pattern of Braille without dots, a note without a head
		return true
	}
	return Is(r) || unicode.IsSpace(r) || unicode.In(r, unicode.Zs, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
