package text

import (
	"bytes"
	"regexp"
)

// unfinished matches the beginning of an escape of JSON or YAML at the end of a text, after an even number of
// backslashes.
var unfinished = regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|x[0-9a-fA-F]?)?)$`)

// longestTail is the length of the end of a text that is searched, in bytes.
const longestTail = 256

// InEscape returns the unfinished escape at the end of a text, such as \u00, or "". Line ends after it do
// not count. A file that ends in one was cut off.
func InEscape(text []byte) string {
	text = bytes.TrimRight(text, "\r\n")
	m := unfinished.FindSubmatch(text[max(len(text)-longestTail, 0):])
	if m == nil {
		return ""
	}
	return string(m[1])
}
