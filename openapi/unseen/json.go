package unseen

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"drawbridge/openapi/jsonscan"
)

// JSON is [Bytes] for a JSON text, which was scanned before: invisible characters are removed from its strings,
// including member names, whether they are literal or escaped. Strings that are clean keep their bytes. JSON returns
// data itself if there is nothing to clean.
func JSON(data []byte) []byte {
	if firstSuspect(data, true) < 0 {
		return data
	}
	return jsonscan.ReplaceStrings(data, func(str []byte) []byte {
		if firstSuspect(str, true) < 0 {
			return nil
		}
		text := jsonscan.Unquote(str)
		clean := Bytes(text)
		if len(clean) == len(text) && (len(text) == 0 || &clean[0] == &text[0]) {
			return nil
		}
		return jsonscan.AppendString(nil, clean)
	})
}

// Suspect reports whether a text, JSON or not, may need cleaning: a text that is clean as JSON is also clean as plain
// text, since an escape consists of visible characters.
func Suspect(text []byte) bool { return firstSuspect(text, true) >= 0 }

// Words of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// longRun is the number of plain words that make it likely that many more follow.
const longRun = 4

// firstSuspect returns the offset of the first character that may have to be removed; -1 if there is none. In JSON it decodes
// escapes, and ignores control characters, which are not allowed there. It allocates nothing.
func firstSuspect(text []byte, json bool) int {
	var mark uint64 = '\\' * ones
	if !json {
		mark = 0x7f * ones // which is always searched
	}
	words := 0 // consecutive plain ones
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf && i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			del, slash := w^0x7f*ones, w^mark
			found := (w | (w-0x20*ones)&^w | (del-ones)&^del | (slash-ones)&^slash) & highs
			if found == 0 {
				i += 8
				if words++; words == longRun {
					i += jsonscan.VisibleRun(text[i:], json)
				}
				continue
			}
			words = 0
			i += bits.TrailingZeros64(found) >> 3
		}
		c := text[i]
		switch {
		case c == '\\' && json:
			r, n := escaped(text[i:])
			if r == '\r' { // it stays before a line feed, which only Bytes checks
				if next, _ := escaped(text[i+n:]); next == '\n' {
					r = '\n'
				}
			}
			if Is(r) {
				return i
			}
			i += n
		case c < 0x20:
			if c != '\n' && c != '\t' && (c != '\r' || i+1 >= len(text) || text[i+1] != '\n') {
				return i
			}
			i++
		case c < 0x7f:
			i++
		case c == 0x7f:
			return i
		case c >= 0xc3 && c <= 0xcc, c >= 0xce && c <= 0xd7, c >= 0xd9 && c <= 0xdf: // blocks of two bytes without any
			i += 2
		case c >= 0xe4 && c <= 0xee, c == 0xe3 && i+1 < len(text) && text[i+1] != 0x85: // of three
			i += 3
		default:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && n == 1 || Is(r) {
				return i
			}
			i += n
		}
	}
	return -1
}

// escaped returns the character that the escape at the beginning of b represents, and its length. An invalid escape is
// one byte without meaning.
func escaped(b []byte) (r rune, n int) {
	if len(b) < 2 || b[0] != '\\' {
		return ' ', 1
	}
	switch b[1] {
	case 'b', 'f':
		return 0, 2
	case 'r':
		return '\r', 2
	case 'n':
		return '\n', 2
	case 'u':
		if r, ok := hex(b); ok {
			if !utf16.IsSurrogate(r) {
				return r, 6
			}
			if low, ok := hex(b[6:]); ok {
				if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
					return both, 12
				}
			}
			return ' ', 6
		}
	}
	if b[1] < ' ' || b[1] > '~' {
		return ' ', 1 // not in valid JSON: the following bytes are examined separately
	}
	return ' ', 2
}

func hex(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		switch c := b[i]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
