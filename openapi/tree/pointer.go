package tree

import (
	"strconv"
	"strings"
)

// escapePointer escapes one reference token of a JSON pointer (RFC 6901 section 3).
func escapePointer(token string) string {
	if strings.IndexByte(token, '~') >= 0 {
		token = strings.ReplaceAll(token, "~", "~0")
	}
	if strings.IndexByte(token, '/') >= 0 {
		token = strings.ReplaceAll(token, "/", "~1")
	}
	return token
}

// Locate returns the object or array that a JSON pointer within a file leads to, or the nearest that holds, or held
// before it was repaired, what the pointer names. It is nil when the file was not read.
func (s *Set) Locate(location, pointer string) *Node {
	f := s.files[location]
	if f == nil || f.root == nil {
		return nil
	}
	n := f.root
	for rest := strings.TrimPrefix(pointer, "/"); rest != ""; {
		var token string
		token, rest, _ = strings.Cut(rest, "/")
		token = unescapePointer(token)
		next := n.step(token)
		if next == nil {
			next = n.step(strings.ToLower(token)) // the name of a method in capitals
		}
		if next == nil || next.body == nil {
			break
		}
		n = next
	}
	return n
}

func quote(s string) string { return strconv.Quote(s) }

// unescapePointer undoes escapePointer.
func unescapePointer(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
