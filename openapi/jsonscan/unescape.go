package jsonscan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnescaped appends a JSON text with characters instead of the escapes that JSON does not require: of all but
// quotes, backslashes and control characters. A lone surrogate, which no text in UTF-8 can have (RFC 8259 section 8.2),
// becomes U+FFFD. The value stays the same otherwise. dst may be src[:0].
func AppendUnescaped(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\\')
		if i < 0 {
			return append(dst, src...)
		}
		dst, src = append(dst, src[:i]...), src[i:]
		switch n := escapeLen(src); n {
		case 0: // not JSON
			dst, src = append(dst, src[0]), src[1:]
		case 2:
			if src[1] == '/' {
				dst = append(dst, '/')
			} else {
				dst = append(dst, src[0], src[1])
			}
			src = src[2:]
		default:
			r := hexRune(src[2:])
			switch {
			case r < ' ':
				dst = append(dst, src[:n]...)
			case r == '"' || r == '\\':
				dst = append(dst, '\\', byte(r))
			case utf16.IsSurrogate(r):
				if low := src[n:]; escapeLen(low) == n {
					if both := utf16.DecodeRune(r, hexRune(low[2:])); both != utf8.RuneError {
						r, n = both, 2*n
					}
				}
				fallthrough
			default:
				dst = utf8.AppendRune(dst, r) // a lone surrogate is appended as U+FFFD
			}
			src = src[n:]
		}
	}
}

// AppendNormal appends a JSON text as it leaves the gateway: without white space outside strings, see [AppendCompact],
// and without the escapes that [AppendUnescaped] replaces. Escapes cost a model several times as much as their
// characters, and strict parsers refuse a whole message for half a surrogate pair. info is the result of [Scan] for the
// text. dst may be text[:0].
func AppendNormal(dst, text []byte, info Info) []byte {
	switch {
	case !info.Escapes && !info.Spaced:
		return append(dst, text...)
	case !info.Escapes:
		return AppendCompact(dst, text)
	case info.Spaced:
		begin := len(dst)
		dst = AppendCompact(dst, text)
		dst, text = dst[:begin], dst[begin:]
	}
	return AppendUnescaped(dst, text)
}

// HasEscapes reports whether a JSON text may have escapes that [AppendUnescaped] replaces. It is much cheaper than a scan.
func HasEscapes(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		if c := text[i+1]; c == 'u' || c == '/' {
			return true
		}
		text = text[i+2:]
	}
}
