package jsonscan

import (
	"bytes"
	"slices"
)

// AppendCanonical appends the canonical form of a JSON text that [Scan] accepts: without white space, the members of
// each object ordered by the bytes of their names, and strings with only the required escapes. Numbers keep their
// literals, unlike in RFC 8785, whose numbers are floating point: two ids of 19 digits must not become one.
func AppendCanonical(dst, src []byte) []byte {
	if n := canonicalEnd(src, 0); n == len(src) {
		return append(dst, src...)
	}
	return appendCanonical(dst, src)
}

// canonicalEnd returns the end of the value at i if it is certainly canonical, as most values are that programs write;
// otherwise -1. It follows the same steps as [AppendCanonical], so the two agree on every value.
func canonicalEnd(src []byte, i int) int {
	if i >= len(src) {
		return -1
	}
	switch c := src[i]; c {
	case '{':
		return canonicalObjectEnd(src, i)
	case '[':
		if i++; i < len(src) && src[i] == ']' {
			return i + 1
		}
		for i = canonicalEnd(src, i); i >= 0 && i < len(src); i = canonicalEnd(src, i+1) {
			switch src[i] {
			case ']':
				return i + 1
			case ',':
			default:
				return -1
			}
		}
		return -1
	case '"':
		for i++; i < len(src) && src[i] != '\\'; i++ {
			if src[i] == '"' {
				return i + 1
			}
		}
		return -1
	}
	start := i
	for i < len(src) && (src[i] >= '0' && src[i] <= '9' || src[i] >= 'a' && src[i] <= 'z' || src[i] == '-' || src[i] == '+' || src[i] == '.' || src[i] == 'E') {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// canonicalObjectEnd is canonicalEnd for an object: its names are printable ASCII, without escapes, and in order.
func canonicalObjectEnd(src []byte, i int) int {
	if i++; i < len(src) && src[i] == '}' {
		return i + 1
	}
	var before []byte
	for {
		if i >= len(src) || src[i] != '"' {
			return -1
		}
		i++
		start := i
		for i < len(src) && src[i] != '"' {
			if c := src[i]; c < ' ' || c > '~' || c == '\\' {
				return -1
			}
			i++
		}
		if i+1 >= len(src) || src[i+1] != ':' {
			return -1
		}
		name := src[start:i]
		if bytes.Compare(before, name) > 0 {
			return -1
		}
		before = name
		if i = canonicalEnd(src, i+2); i < 0 || i >= len(src) {
			return -1
		}
		switch src[i] {
		case '}':
			return i + 1
		case ',':
			i++
		default:
			return -1
		}
	}
}

func appendCanonical(dst, src []byte) []byte {
	i := skipSpace(src, 0)
	if i >= len(src) {
		return dst
	}
	switch src = src[i:]; src[0] {
	case '{':
		return appendCanonicalObject(dst, src)
	case '[':
		open := len(dst)
		dst = append(dst, '[')
		for element := range Elements(src) {
			if len(dst) > open+1 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, element)
		}
		return append(dst, ']')
	case '"':
		return appendCanonicalString(dst, src[:skipString(src, 1)])
	}
	return AppendCompact(dst, src) // a literal name or a number
}

func appendCanonicalString(dst, str []byte) []byte {
	if bytes.IndexByte(str, '\\') < 0 {
		return append(dst, str...)
	}
	return AppendString(dst, Unquote(str))
}

// canonicalMember is a member of an object, its name without quotes and escapes.
type canonicalMember struct{ name, value []byte }

func appendCanonicalObject(dst, object []byte) []byte {
	var room [16]canonicalMember // most objects are small, and need no allocation
	members, sorted := room[:0], true
	for name, value := range Members(object) {
		if n := len(members); n > 0 && bytes.Compare(members[n-1].name, name) > 0 {
			sorted = false
		}
		members = append(members, canonicalMember{name, value})
	}
	if !sorted {
		slices.SortStableFunc(members, func(a, b canonicalMember) int { return bytes.Compare(a.name, b.name) })
	}
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.name), ':')
		dst = appendCanonical(dst, m.value)
	}
	return append(dst, '}')
}
