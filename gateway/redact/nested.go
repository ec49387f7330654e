package redact

import (
	"strings"

	"drawbridge/openapi/jsonscan"
)

// A service may pass on what another has said, as a string in its JSON, and that one the same: a name or a line break in there is written with the escapes of
// all. maxNested is how many such strings, one in another, are read each by itself.
const maxNested = 2

// inJSON returns JSON without what has to go, and whether there was something.
func inJSON(text string, nested int, kept *Kept) (less string, found bool) {
	text = withoutEscapes(text)
	less = text
	if nested > 0 {
		less = withinStrings(less, nested-1, kept)
	}
	less = clean(less, kept, true)
	return less, less != text
}

// withinStrings cleans the strings of a JSON text that hold JSON with escapes of its own. One without is seen through from outside. One in which nothing is
// found stays as it was written: it may be something else.
func withinStrings(text string, nested int, kept *Kept) string {
	if !strings.Contains(text, `\\`) {
		return text
	}
	var b strings.Builder
	copied := 0
	for at := 0; ; {
		n := strings.IndexByte(text[at:], '"')
		if n < 0 {
			break
		}
		start := at + n
		end := closing(text, start+1, 0)
		held := text[start:end]
		if at = end + 1; at > len(text) {
			at = len(text) // it was cut
		}
		if !strings.Contains(held, `\\`) || !strings.Contains(held, `\"`) { // a path of Windows, mostly
			continue
		}
		said := string(jsonscan.Unquote([]byte(held + `"`)))
		begin := beginning(said)
		if begin < 0 {
			continue
		}
		less, found := inJSON(said[begin:], nested, kept)
		if !found {
			continue
		}
		b.WriteString(text[copied:start])
		quoted := jsonscan.AppendString(nil, said[:begin]+less)
		b.Write(quoted[:len(quoted)-1])
		copied = end
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// beginning returns where JSON may begin in a text; -1: there is none in it.
func beginning(text string) int {
	if isJSON(text) {
		return 0
	}
	first := -1
	for _, sign := range []string{`{"`, `["`, `[{`} {
		if i := strings.Index(text, sign); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	return first
}
