package unseen

import "unicode"

// Is reports whether a character is invisible, or can make the displayed text differ from the stored one. It includes
// those that [Clean] keeps between certain neighbours.
func Is(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r < 0xa0: // DEL and C1
		return true
	case r < 0x300:
		return r == 0xad // soft hyphen
	case r < 0x2000:
		switch {
		case r == 0x34f, r == 0x61c, r == 0x890, r == 0x891, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5: // joiners, a direction, fillers
			return true
		}
		return r >= 0x180b && r <= 0x180f
	case r < 0x2070: // zero width, line and paragraph separator, directions, joiners, invisible operators
		return r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060
	case r < 0xfe00:
		return r == 0x3164 // a filler
	case r < 0x10000: // variation selectors carry hidden bytes
		return r <= variation || r == 0xfeff || r == 0xffa0 || r >= 0xfff0 && r <= 0xfffb
	case r < 0xe0000:
		return r == 0x110bd || r == 0x110cd || r >= 0x13430 && r <= 0x1343f || r >= 0x1bca0 && r <= 0x1bca3 || r >= 0x1d173 && r <= 0x1d17a
	}
	return r <= 0xe0fff // tags and more variation selectors
}

// Characters that are visible by their effect on their neighbours.
const (
	nonJoiner = 0x200c
	joiner    = 0x200d
	variation = 0xfe0f // the one that turns a sign into an emoji
)

// belongs reports whether such a character is legitimate after one character and before another; before is 0 at the
// beginning of the text. At most one is legitimate after a character, so that they can't encode a message.
func belongs(r, before, after rune) bool {
	switch r {
	case nonJoiner:
		return isJoined(before)
	case joiner:
		return isJoined(before) || (isEmoji(before) || before == variation) && isEmoji(after)
	case variation:
		return before > ' ' && !unicode.IsSpace(before) && before != variation && before != joiner && before != nonJoiner
	}
	return false
}

// isJoined reports whether a character is of a script whose letters change their form by their neighbours, so that a
// joiner after it is spelling: Persian, Urdu, the scripts of India, and others.
func isJoined(r rune) bool {
	if r < 0x600 {
		return false
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && (r <= 0x8ff || unicode.In(r,
		unicode.Arabic, unicode.Mongolian, unicode.Phags_Pa, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan,
		unicode.Khmer, unicode.Myanmar, unicode.Balinese, unicode.Javanese))
}

// isEmoji reports whether a character may be part of an emoji sequence.
func isEmoji(r rune) bool {
	switch {
	case r < 0x2190:
		return false
	case r < 0x2c00:
		return r <= 0x21ff || r >= 0x2300 && r <= 0x27bf || r >= 0x2900
	}
	return r >= 0x1f000 && r <= 0x1faff
}
