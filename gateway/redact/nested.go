package redact

import (
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxNested limits how many levels of JSON within JSON strings are decoded. A service may pass on the response of
// another as a string in its JSON, which may hold that of a third: each level adds its own escapes to names and line
// breaks.
const maxNested = 2

// inJSON returns a JSON text without everything that must be removed, and whether it changed.
func inJSON(text string, nested int, kept *Kept) (cleaned string, found bool) {
	text = withoutEscapes(text)
	cleaned = text
	if nested > 0 {
		cleaned = withinStrings(cleaned, nested-1, kept)
	}
	cleaned = clean(cleaned, kept, true)
	return cleaned, cleaned != text
}

// withinStrings cleans the strings of a JSON text that hold JSON with escapes of its own. A string without such escapes
// is matched as it is. A string in which nothing is found stays byte for byte: it may be something else.
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
		end := closingQuote(text, start+1, 0)
		literal := text[start:end]
		if at = end + 1; at > len(text) {
			at = len(text) // the text was cut
		}
		if !strings.Contains(literal, `\\`) || !strings.Contains(literal, `\"`) { // usually a Windows path
			continue
		}
		decoded := string(jsonscan.Unquote([]byte(literal + `"`)))
		begin := jsonStart(decoded)
		if begin < 0 {
			continue
		}
		cleaned, found := inJSON(decoded[begin:], nested, kept)
		if !found {
			continue
		}
		b.WriteString(text[copied:start])
		quoted := jsonscan.AppendString(nil, decoded[:begin]+cleaned)
		b.Write(quoted[:len(quoted)-1])
		copied = end
	}
	if copied == 0 {
		return text
	}
	b.WriteString(text[copied:])
	return b.String()
}

// jsonStart returns the offset at which JSON may begin in a text, or -1.
func jsonStart(text string) int {
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
