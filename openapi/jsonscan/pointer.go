package jsonscan

import "strings"

// At returns the value at a JSON Pointer (RFC 6901), as written; nil if there is none. "" refers to data itself. Of
// duplicate members the first is returned.
func At(data []byte, pointer string) []byte {
	for pointer != "" {
		if pointer[0] != '/' {
			return nil
		}
		var token string
		token, pointer = CutToken(pointer)
		switch KindOf(data) {
		case Object:
			data = Lookup(data, token)
		case Array:
			data = element(data, token)
		default:
			return nil
		}
		if data == nil {
			return nil
		}
	}
	return data
}

// CutToken returns the first token of a JSON Pointer, unescaped, and the pointer to the rest within the value of that token: "a/b" and
// "/c" of "/a~1b/c". Both are "" for "".
func CutToken(pointer string) (token, rest string) {
	token = strings.TrimPrefix(pointer, "/")
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	return UnescapeToken(token), rest
}

// Tokens returns the tokens of a JSON Pointer, unescaped; nil for "".
func Tokens(pointer string) (all []string) {
	for pointer != "" {
		var token string
		token, pointer = CutToken(pointer)
		all = append(all, token)
	}
	return all
}

// StringAt returns the string at a JSON Pointer; "" if there is none. data may be nil.
func StringAt(data []byte, pointer string) string {
	if data == nil {
		return ""
	}
	if v := At(data, pointer); KindOf(v) == String {
		return string(Unquote(v))
	}
	return ""
}

// WithString returns an object in which one member is set to a string. object may be nil.
func WithString(object []byte, name, value string) []byte {
	dst := []byte{'{'}
	for member, value := range Members(object) {
		if string(member) != name {
			dst = append(append(append(AppendString(dst, member), ':'), value...), ',')
		}
	}
	dst = append(AppendString(dst, name), ':')
	return append(AppendString(dst, value), '}')
}

// PointerTo returns the JSON Pointer (RFC 6901) to the member of that name of an object.
func PointerTo(name string) string { return "/" + EscapeToken(name) }

// EscapeToken returns a reference token of a JSON Pointer (RFC 6901 section 3).
func EscapeToken(token string) string {
	if strings.IndexByte(token, '~') >= 0 {
		token = strings.ReplaceAll(token, "~", "~0")
	}
	if strings.IndexByte(token, '/') >= 0 {
		token = strings.ReplaceAll(token, "/", "~1")
	}
	return token
}

// UnescapeToken is the reverse of [EscapeToken].
func UnescapeToken(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

// element returns the element whose index is a token of a pointer: digits without leading zeros.
func element(array []byte, token string) []byte {
	const most = 9 // digits; no text has more elements
	if token == "" || len(token) > most || token[0] == '0' && len(token) > 1 {
		return nil
	}
	index := 0
	for _, c := range []byte(token) {
		if c < '0' || c > '9' {
			return nil
		}
		index = index*10 + int(c-'0')
	}
	for value := range Elements(array) {
		if index == 0 {
			return value
		}
		index--
	}
	return nil
}
