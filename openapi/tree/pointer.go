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

func quote(s string) string { return strconv.Quote(s) }

// unescapePointer undoes escapePointer.
func unescapePointer(token string) string {
	if strings.IndexByte(token, '~') < 0 {
		return token
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}
