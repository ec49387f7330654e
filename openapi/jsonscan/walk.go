package jsonscan

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// KindOf returns the kind of a value; 0 if value is empty.
func KindOf(value []byte) Kind {
	if i := skipSpace(value, 0); i < len(value) {
		return kindOf(value[i])
	}
	return 0
}

// Members yields the members of an object in order: the name without quotes and escapes, and the value as written. The
// slices belong to object. Nothing is yielded for another kind.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipSpace(object, 0)
		if i >= len(object) || object[i] != '{' {
			return
		}
		i = skipSpace(object, i+1)
		for i < len(object) && object[i] == '"' {
			start := i
			i = skipValue(object, i)
			name := Unquote(object[start:i])
			i = skipSpace(object, skipSpace(object, i)+1)
			start = i
			i = skipValue(object, i)
			if start > len(object) || !yield(name, object[start:i]) {
				return
			}
			i = skipSpace(object, skipSpace(object, i)+1)
		}
	}
}

// Lookup returns the value of a member; nil if the object does not have it. Of duplicate members the first is returned.
func Lookup(object []byte, name string) []byte {
	for n, v := range Members(object) {
		if string(n) == name {
			return v
		}
	}
	return nil
}

// Elements yields the elements of an array as written. Nothing is yielded for another kind.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		i := skipSpace(array, 0)
		if i >= len(array) || array[i] != '[' {
			return
		}
		i = skipSpace(array, i+1)
		for i < len(array) && array[i] != ']' {
			start := i
			i = skipValue(array, i)
			if i <= start || !yield(array[start:i]) {
				return
			}
			i = skipSpace(array, skipSpace(array, i)+1)
		}
	}
}

// PointerAt returns the JSON Pointer (RFC 6901) of the innermost value that contains the offset.
func PointerAt(data []byte, offset int) string {
	var b strings.Builder
	base := 0 // offset of data in the whole text
	for {
		found := false
		index := 0
		inside := func(value []byte) bool {
			start := base + offsetIn(data, value)
			return start <= offset && offset < start+len(value)
		}
		for name, value := range Members(data) {
			if inside(value) {
				b.WriteByte('/')
				b.WriteString(EscapeToken(string(name)))
				base, data, found = base+offsetIn(data, value), value, true
				break
			}
		}
		if !found {
			for value := range Elements(data) {
				if inside(value) {
					b.WriteByte('/')
					b.WriteString(strconv.Itoa(index))
					base, data, found = base+offsetIn(data, value), value, true
					break
				}
				index++
			}
		}
		if !found {
			return b.String()
		}
	}
}

// offsetIn returns the offset at which part, a slice of whole, starts in it.
func offsetIn(whole, part []byte) int { return cap(whole) - cap(part) }

func skipSpace(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// skipValue returns the end of the value at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i+1)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i = skipWord(b, i)
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

// skipWord returns the end of a number, true, false or null at i.
func skipWord(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', ':', ']', '}', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

// skipString returns the end of a string whose opening quote precedes i.
func skipString(b []byte, i int) int {
	for i < len(b) {
		for i+8 <= len(b) {
			m := special(binary.LittleEndian.Uint64(b[i:]))
			if m == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(m) >> 3
			break
		}
		if i >= len(b) {
			break
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i += 2
		default:
			i++
		}
	}
	return len(b)
}
