package tree

import "unicode/utf8"

// AppendJSON appends n as compact JSON: the author's order, numbers exactly as
// written, strings with the fewest escapes. An absent node becomes null.
func (n *Node) AppendJSON(dst []byte) []byte {
	switch n.Kind() {
	case Bool, Number:
		return append(dst, n.text...)
	case String:
		return appendString(dst, n.text)
	case Array:
		dst = append(dst, '[')
		for i, k := range n.body.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = k.AppendJSON(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, k := range n.body.kids {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, k.key)
			dst = append(dst, ':')
			dst = k.AppendJSON(dst)
		}
		return append(dst, '}')
	default: // Null, Invalid
		return append(dst, "null"...)
	}
}

// appendString appends s as a JSON string. Strings of a tree are valid UTF-8; those that a caller built may not be, and
// get U+FFFD for invalid bytes.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			case '\b':
				dst = append(dst, '\\', 'b')
			case '\f':
				dst = append(dst, '\\', 'f')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			i++
			start = i
			continue
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
