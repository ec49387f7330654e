package charset

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// surrogateLead is the first byte of a surrogate that is encoded like UTF-8.
const surrogateLead = 0xed

// JoinSurrogates returns text in which services encoded surrogates as three bytes each (CESU-8, Unicode Technical
// Report 26): a pair becomes its character, and half a pair U+FFFD. ok is false if there are none, or if the text is
// not UTF-8 apart from them.
func JoinSurrogates(text []byte) (joined []byte, ok bool) {
	rest := text
	for {
		i := bytes.IndexByte(rest, surrogateLead)
		if i < 0 {
			break
		}
		high, is := surrogate(rest[i:])
		if !is {
			if joined != nil {
				joined = append(joined, rest[:i+1]...)
			}
			rest = rest[i+1:]
			continue
		}
		if joined == nil {
			joined = append(make([]byte, 0, len(text)), text[:len(text)-len(rest)]...)
		}
		joined, rest = append(joined, rest[:i]...), rest[i+3:]
		if low, is := surrogate(rest); is {
			if both := utf16.DecodeRune(high, low); both != utf8.RuneError {
				high, rest = both, rest[3:]
			}
		}
		joined = utf8.AppendRune(joined, high) // half a pair is appended as U+FFFD
	}
	if joined == nil {
		return nil, false
	}
	joined = append(joined, rest...)
	return joined, utf8.Valid(joined)
}

// surrogate returns the surrogate that the first three bytes of b encode.
func surrogate(b []byte) (r rune, ok bool) {
	if len(b) < 3 || b[0] != surrogateLead || b[1] < 0xa0 || b[1] > 0xbf || b[2] < 0x80 || b[2] > 0xbf {
		return 0, false
	}
	return 0xd000 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}
