package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest texts that a schema carries, in characters.
const (
	maxDescription = 1024
	maxTitle       = 120
	maxValueText   = 1024 // an enum value, const, default or example, as JSON
	maxFormat      = 64
	maxPattern     = 4096
)

// Clean makes text from a document fit to be read by a model (S8): control characters, ANSI sequences, bidirectional
// controls, characters that can't be seen, Unicode tags and HTML comments go, line ends become "\n", and what is
// longer than max characters is cut at a word, ending in "…". A max of 0 means no limit.
func Clean(text string, max int) string {
	text = strings.TrimSpace(withoutComments(withoutInvisible(text)))
	return shorten(text, max)
}

// unclean tells whether a text that must be kept exactly, like an enum value, holds something that Clean removes.
func unclean(text string) bool {
	return withoutComments(withoutInvisible(text)) != text
}

// invisible tells whether a character is kept from the eyes of the person who reads the document, or can make what
// they read differ from what is written.
func invisible(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n' && r != '\t'
	case r < 0x7f:
		return false
	case r < 0xa0: // DEL and C1
		return true
	case r < 0xad:
		return false
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // fillers and joiners
		return true
	case r >= 0x180b && r <= 0x180f:
		return true
	case r >= 0xfe00 && r <= 0xfe0e: // variation selectors carry hidden bytes; U+FE0F alone is the emoji one
		return true
	case r >= 0xfff0 && r <= 0xfffb:
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and more variation selectors
		return true
	case r >= 0x600 && r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x8e2: // Arabic and Syriac number signs are seen
		return false
	}
	return r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r) // bidirectional controls, zero width and their like
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func withoutInvisible(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
		case r == 0x1b || r == 0x9b:
			n = ansi(s[i:])
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			b.WriteByte('\n')
		case !invisible(r):
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// ansi returns the length of the escape sequence (ECMA-48) that s starts with.
func ansi(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == 0x1b {
		if n >= len(s) {
			return n
		}
		switch s[n] {
		case '[':
			n++
		case ']', 'P', 'X', '^', '_': // strings up to BEL or ST
			for i := n + 1; i < len(s); i++ {
				if s[i] == 7 {
					return i + 1
				}
				if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
			}
			return n // never closed: its text stays visible
		default:
			return n
		}
	}
	for i := n; i < len(s); i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		} else if c < 0x20 || c > 0x7e {
			return n
		}
	}
	return n
}

// withoutComments removes HTML comments. What is removed may bring the two halves of another comment together, so the
// search goes on in what was written. A comment that is never closed hides all that follows, as it does in a browser.
func withoutComments(s string) string {
	if !strings.Contains(s, "<!--") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		out = append(out, s[i])
		if s[i] != '-' || len(out) < 4 || string(out[len(out)-4:]) != "<!--" {
			continue
		}
		out = out[:len(out)-4]
		end := strings.Index(s[i+1:], "-->")
		if end < 0 {
			break
		}
		i += end + len("-->")
	}
	return string(out)
}

// shorten cuts a text at a word so that it has at most max characters, the last being "…".
func shorten(s string, max int) string {
	if max <= 0 || len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	end, count, word := 0, 0, 0
	for i, r := range s {
		if count == max-1 {
			end = i
			break
		}
		if unicode.IsSpace(r) {
			word = i
		}
		count++
	}
	if next, _ := utf8.DecodeRuneInString(s[end:]); !unicode.IsSpace(next) && word > end/2 {
		end = word
	}
	return strings.TrimRightFunc(s[:end], unicode.IsSpace) + "…"
}
