package unseen

import (
	"strings"
	"unicode/utf8"
)

// Clean returns a text without its invisible characters. Escape sequences are removed as a whole (ECMA-48), all line
// ends become "\n", and invalid UTF-8 is removed.
func Clean(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	c := cleaning{write: func(s string) { b.WriteString(s) }}
	c.run(text)
	return b.String()
}

// isPlain reports whether a text is lines of printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Bytes is Clean for a response, which must be UTF-8: CR LF stays unchanged. It returns text itself if it is clean.
func Bytes(text []byte) []byte {
	if firstSuspect(text, false) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	c := cleaning{returns: true, write: func(s string) { out = append(out, s...) }}
	c.run(string(text))
	if string(out) == string(text) {
		return text
	}
	return out
}

// cleaning is the state of one text in cleaning.
type cleaning struct {
	write    func(string)
	returns  bool // CR stays before LF
	unclosed bool // no control string ends any more: searching the end of each would take quadratic time
	before   rune // the last character written
}

func (c *cleaning) run(s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
		case r == 0x1b || r == 0x9b:
			n = c.sequence(s[i:])
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				c.put('\n', "\n")
			} else if c.returns {
				c.put('\r', "\r")
			}
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			c.put('\n', "\n")
		case !Is(r):
			c.put(r, s[i:i+n])
		case r == joiner || r == nonJoiner || r == variation:
			if after, _ := utf8.DecodeRuneInString(s[i+n:]); belongs(r, c.before, after) {
				c.put(r, s[i:i+n])
			}
		}
		i += n
	}
}

func (c *cleaning) put(r rune, s string) {
	c.before = r
	c.write(s)
}

// sequence returns the length of the escape sequence (ECMA-48) at the start of s.
func (c *cleaning) sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == 0x1b {
		if n >= len(s) {
			return n
		}
		switch s[n] {
		case '[':
			n++
		case ']', 'P', 'X', '^', '_': // strings up to BEL or ST
			for i := n + 1; i < len(s) && !c.unclosed; i++ {
				if s[i] == 7 {
					return i + 1
				}
				if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
			}
			c.unclosed = true
			return n // its text stays visible
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
