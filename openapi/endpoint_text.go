package openapi

import (
	"strings"
	"unicode"
)

// Some generators write the method and the path as the summary, "GET /berths/{id}", which only repeats the name of the
// tool and its path. If the document has other text, that is used.

// wordsOf returns the summary and the description of an operation. One that only repeats the method and path is "",
// unless the operation has no other text or operationId.
func (o *Operation) wordsOf(summary, description string) (string, string) {
	named := o.ID != "" && !o.isEndpoint(o.ID)
	if o.isEndpoint(summary) && (description != "" && !o.isEndpoint(description) || named) {
		summary = ""
	}
	if o.isEndpoint(description) && (summary != "" || named) {
		description = ""
	}
	return summary, description
}

// isEndpoint reports whether a text consists of the operation's method and path, or of the path alone. Texts without a
// slash are words: "Get berths" of GET /berths.
func (o *Operation) isEndpoint(text string) bool {
	text = strings.Trim(text, " .`*\"'")
	method := text
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		method = text[:i]
	}
	if strings.EqualFold(method, o.Method) {
		text = strings.TrimLeft(text[len(method):], " \t:-_`[]()")
	}
	if !strings.Contains(text, "/") || strings.ContainsAny(text, " \t\n") {
		return false
	}
	path := pathLetters(o.Path)
	written := pathLetters(text)
	return written == path || path != "" && strings.HasSuffix(written, "/"+path) // below a prefix such as /api/v1
}

// pathLetters normalizes a path: without the notation of variables, in lower case and without leading and trailing
// slashes.
func pathLetters(path string) string {
	path = strings.Map(func(r rune) rune {
		switch {
		case r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, path)
	return strings.Trim(path, "/")
}
