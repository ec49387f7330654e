package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote returns the value of a JSON string, given with its quotes. The result is a slice of str if it has no escape,
// otherwise a copy. A lone surrogate becomes U+FFFD.
func Unquote(str []byte) []byte {
	if len(str) < 2 || str[0] != '"' {
		return nil
	}
	str = str[1 : len(str)-1]
	i := bytes.IndexByte(str, '\\')
	if i < 0 {
		return str
	}
	out := append(make([]byte, 0, len(str)), str[:i]...)
	for i < len(str) {
		c := str[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		n := escapeLen(str[i:])
		switch {
		case n == 0:
			return out
		case n == 2:
			out = append(out, unescaped(str[i+1]))
		default:
			r := hexRune(str[i+2:])
			if utf16.IsSurrogate(r) {
				if low := str[i+6:]; escapeLen(low) == 6 {
					if both := utf16.DecodeRune(r, hexRune(low[2:])); both != utf8.RuneError {
						r, n = both, 12
					}
				}
			}
			out = utf8.AppendRune(out, r) // a lone surrogate is appended as U+FFFD
		}
		i += n
	}
	return out
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hexRune(b []byte) rune {
	r := 0
	for _, c := range b[:4] {
		r = r<<4 | hexValue(c)
	}
	return rune(r)
}

// AppendMember appends a member to an object that is open: dst ends with its brace, or with another member.
func AppendMember[T ~string | ~[]byte](dst []byte, name T, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(AppendString(dst, name), ':'), value...)
}

// AppendString appends text as a JSON string with its quotes. Invalid UTF-8 becomes U+FFFD.
func AppendString[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst = append(dst, '"')
	b := []byte(text)
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	dst = AppendEscaped(dst, b)
	return append(dst, '"')
}

// AppendCompact appends src without the white space outside strings. dst may be src[:0].
func AppendCompact(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		switch src[i] {
		case ' ', '\t', '\n', '\r':
			i++
		case '"':
			end := skipString(src, i+1)
			dst = append(dst, src[i:end]...)
			i = end
		default:
			dst = append(dst, src[i])
			i++
		}
	}
	return dst
}
