package jsonscan

import (
	"fmt"
	"unicode/utf8"
)

// str scans a string whose opening quote precedes i. It returns the offset after the closing quote and whether there is
// an escape in it.
func (s *scanner) str(i int) (end int, escaped bool, err error) {
	d := s.data
	i += plainRun(d[i:])
	for i < len(d) {
		switch c := d[i]; {
		case c == '"':
			return i + 1, escaped, nil
		case c == '\\':
			escaped = true
			n := escapeLen(d[i:])
			if n == 0 {
				return i, escaped, s.fail(i, Syntax, "invalid escape in a string")
			}
			s.escapes = s.escapes || n > 2 || d[i+1] == '/'
			i += n
		case c < ' ':
			return i, escaped, s.fail(i, Syntax, fmt.Sprintf("control character %#02x in a string", c))
		case c < utf8.RuneSelf:
			i += max(1, plainRun(d[i:])) // a short run at the end of the text is not detected
		default:
			r, n := utf8.DecodeRune(d[i:])
			if r == utf8.RuneError && n <= 1 {
				return i, escaped, s.fail(i, Encoding, "invalid UTF-8 in a string")
			}
			i += n
		}
	}
	return i, escaped, s.fail(i, Syntax, "unexpected end of the text inside a string")
}

// escapeLen returns the length of the escape sequence at the start of b; 0 if there is none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[0] != '\\' {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hexValue(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexValue(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
