package wire

import "drawbridge/openapi/jsonscan"

// A class is a set of bytes that need no escape in some location; the others are percent-encoded there.
type class uint16

const (
	unreserved     class = 1 << iota // RFC 3986 section 2.3
	formSafe                         // WHATWG URL, application/x-www-form-urlencoded percent-encode set
	queryReserved                    // unreserved and the characters that allowReserved keeps in a query
	pathReserved                     // unreserved and the characters that allowReserved keeps in a path segment
	pathChar                         // RFC 3986 section 3.3 pchar: literals of a path template
	queryChar                        // RFC 3986 section 3.4: the fixed query of a path template
	cookieReserved                   // unreserved and the characters that allowReserved keeps in a cookie
	cookieOctet                      // RFC 6265 section 4.1.1
	tokenChar                        // RFC 9110 section 5.6.2
	comma                            // the delimiter of lists, which a list's members must not hold unescaped
)

// passTriples are the classes in which a percent-encoded triple is kept as it is (RFC 6570 section 3.2.3).
const passTriples = queryReserved | pathReserved | cookieReserved | pathChar | queryChar

// classes is read-only.
var classes = func() (t [256]class) {
	add := func(c class, chars string) {
		for _, b := range []byte(chars) {
			t[b] |= c
		}
	}
	const (
		alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		plain        = alphanumeric + "-._~"
	)
	add(unreserved, plain)
	add(formSafe, alphanumeric+"*-._")
	// ";" separates pairs for some servers, "+" is a space for all, "#", "[" and "]" are not allowed (RFC 3986 section 3.4).
	add(queryReserved, plain+":/?@!$'()*,")
	// "/", "?" and "#" are excluded by OAS "Path Templating", ";" begins a path parameter for many servers.
	add(pathReserved, plain+":@!$&'()*+,=")
	add(pathChar, plain+":@!$&'()*+,;=/")
	add(queryChar, plain+":/?@!$&'()*+,;=")
	add(cookieReserved, plain+"!#$&'()*+/:=?@[]")
	add(cookieOctet, plain+"!#$%&'()*+/:<=>?@[]^`{|}")
	add(tokenChar, alphanumeric+"!#$%&'*+-.^_`|~")
	add(comma, ",")
	return t
}()

const hexUpper = "0123456789ABCDEF"

// appendEscaped appends text. It percent-encodes every byte that is not in keep, or is in not.
func appendEscaped[T ~string | ~[]byte](dst []byte, text T, keep, not class) []byte {
	start := 0
	for i := 0; i < len(text); i++ {
		b := text[i]
		if c := classes[b]; c&keep != 0 && c&not == 0 {
			continue
		}
		if b == '%' && keep&passTriples != 0 && passes(text, i, keep) {
			i += 2
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		if b == ' ' && keep == formSafe {
			dst = append(dst, '+')
			continue
		}
		dst = append(dst, '%', hexUpper[b>>4], hexUpper[b&15])
	}
	return append(dst, text[start:]...)
}

// passes reports whether the "%" at i begins a triple that may stay unchanged. In a path, a triple that some servers
// take for a separator, or decode a second time, may not: it would change its segment (R3).
func passes[T ~string | ~[]byte](text T, i int, keep class) bool {
	b, ok := triple(text, i)
	if !ok {
		return false
	}
	if keep != pathReserved {
		return true
	}
	return b > ' ' && b != 0x7f && b != '/' && b != '\\' && b != '%' && b != ';' && b != '?' && b != '#'
}

// triple returns the byte that the percent-encoded triple at i represents.
func triple[T ~string | ~[]byte](text T, i int) (byte, bool) {
	if i+2 >= len(text) || text[i] != '%' {
		return 0, false
	}
	hi, lo := hexDigit(text[i+1]), hexDigit(text[i+2])
	return hi<<4 | lo, hi < 16 && lo < 16
}

func hexDigit(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10
	}
	return 0xff
}

// appendDecoded appends text with every triple replaced by the byte that it represents; any other "%" stays.
func appendDecoded(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if b, ok := triple(text, i); ok {
			dst = append(dst, b)
			i += 2
			continue
		}
		dst = append(dst, text[i])
	}
	return dst
}

// appendJSON appends a value as compact JSON.
func appendJSON(dst, v []byte) []byte { return jsonscan.AppendCompact(dst, v) }
