package render

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"drawbridge/openapi/answer"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

const (
	maxTitle  = 200 // bytes
	maxDetail = 600
	// readAtOnce is the length in bytes up to which a body needs no lead: its text is visible at a glance.
	readAtOnce = 300
)

// textMembers are the members in which error formats have their text, the best first; nestedMembers are those that
// contain another object of this kind, or a list of them.
var (
	textMembers   = []string{"message", "error_description", "errorMessage", "detail", "error", "msg", "title", "reason", "description"}
	nestedMembers = []string{"error", "errors"}
)

// leadOf returns the text of an error in JSON: title and detail of RFC 9457, or the corresponding members of other
// formats. It comes first in the message because the body may have much else around it, and a long one is cut. redacted
// redacts a text; cut means that the text is incomplete.
func leadOf(p answer.Part, redacted func(text string, cut bool) string) string {
	words := func(value []byte, most int) string { return words(value, most, redacted) }
	values := membersOf(p.Data)
	if title, detail := words(values["title"], maxTitle), words(values["detail"], maxDetail); p.MediaType == "application/problem+json" || title != "" && detail != "" {
		if title != "" && detail != "" && title != detail {
			return strings.TrimRight(title, ".:") + ": " + detail
		}
		return cmp.Or(detail, title)
	}
	if len(p.Data) <= readAtOnce {
		return ""
	}
	if found := firstWords(values, words); found != "" {
		return found
	}
	for _, name := range nestedMembers {
		inner := values[name]
		for first := range jsonscan.Elements(inner) {
			inner = first
			break
		}
		if found := cmp.Or(words(inner, maxDetail), firstWords(membersOf(inner), words)); found != "" {
			return found
		}
	}
	return ""
}

// membersOf returns the members of an object that may hold the text of an error, found in one pass.
func membersOf(object []byte) map[string][]byte {
	values := map[string][]byte{}
	for name, value := range jsonscan.Members(object) {
		if slices.Contains(textMembers, string(name)) || slices.Contains(nestedMembers, string(name)) {
			values[string(name)] = value
		}
	}
	return values
}

// firstWords returns the text of the best of textMembers that has any, or "".
func firstWords(values map[string][]byte, words func(value []byte, most int) string) string {
	for _, name := range textMembers {
		if found := words(values[name], maxDetail); found != "" {
			return found
		}
	}
	return ""
}

// words returns the beginning of a JSON string on one line, or "" if value is not a string.
func words(value []byte, most int, redacted func(text string, cut bool) string) string {
	if jsonscan.KindOf(value) != jsonscan.String {
		return ""
	}
	value = bytes.TrimSpace(value)
	short := len(value) > 8*maxDetail
	if short {
		value = append(bytes.Clone(value[:8*maxDetail]), '"') // an escape sequence that is cut ends the text
	}
	return text.Truncate(strings.Join(strings.Fields(redacted(string(jsonscan.Unquote(value)), short)), " "), most)
}
