package jsonscan

import (
	"bytes"
	"slices"
)

// AppendCanonical appends a JSON text that [Scan] accepts in one form for all that say the same: without white space, the members
// of each object in the order of the bytes of their names, and strings with no escapes but those that they need. Numbers stay as
// they were written, unlike in RFC 8785, whose numbers are floating point: two ids of 19 digits must not become one.
func AppendCanonical(dst, src []byte) []byte {
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
			dst = AppendCanonical(dst, element)
		}
		return append(dst, ']')
	case '"':
		return appendCanonicalString(dst, src[:skipString(src, 1)])
	}
	return AppendCompact(dst, src) // a word or a number
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
	var room [16]canonicalMember // most objects are small, and then nothing is allocated
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
		dst = AppendCanonical(dst, m.value)
	}
	return append(dst, '}')
}
