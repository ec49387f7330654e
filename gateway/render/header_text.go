package render

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"drawbridge/openapi/text"
)

// The text for the model has the headers that the operator names, those that arguments of another operation depend on, and those that
// say how to go on: where the next page of a list or a created resource is, how many elements there are, when to ask again. Any other
// header would cost tokens with each response. A response without a body has all that the document declares.

// continuation returns the part of a header's value without which a model can't go on after the response, or "".
func (x *Exchange) continuation(name, value string) string {
	shown := false
	switch status := x.Response.StatusCode; name {
	case "Link":
		return nextLink(value)
	case "Location": // of a response without a body, see [Renderer.EmptyText]
		shown = !x.Bodiless && (status == http.StatusCreated || status == http.StatusAccepted)
	case "Operation-Location", "Azure-Asyncoperation":
		shown = status == http.StatusCreated || status == http.StatusAccepted
	case "Retry-After":
		shown = status == http.StatusAccepted && value != "0"
	default:
		shown = isPaging(name)
	}
	if !shown {
		return ""
	}
	return value
}

// pagingWords are words of the names of headers about the place of a response in a list.
var pagingWords = []string{"total", "next", "cursor", "continuation", "more", "pagination"}

// isPaging reports whether a header describes how a list continues, or how long it is.
func isPaging(name string) bool {
	return name == "Content-Range" ||
		slices.ContainsFunc(text.NameWords(name), func(word string) bool { return slices.Contains(pagingWords, word) })
}

// nextLink returns the link to the next page in a Link header (RFC 8288), or "".
func nextLink(value string) string {
	for link := range listed(value, ',') {
		_, parameters, _ := strings.Cut(link, ">")
		for parameter := range listed(parameters, ';') {
			name, relations, _ := strings.Cut(parameter, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "rel") {
				continue
			}
			for relation := range strings.FieldsSeq(strings.Trim(relations, ` "`)) {
				if strings.EqualFold(relation, "next") {
					return link
				}
			}
		}
	}
	return ""
}

// listed yields the elements of a header without the spaces around them. URLs in angle brackets and quoted texts may have the separator.
func listed(value string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, quoted, inside := 0, false, false
		for i := 0; i < len(value); i++ {
			switch char := value[i]; {
			case char == '\\' && quoted:
				i++
			case char == '"' && !inside:
				quoted = !quoted
			case (char == '<' || char == '>') && !quoted:
				inside = char == '<'
			case char == separator && !quoted && !inside:
				if !yield(strings.TrimSpace(value[start:i])) {
					return
				}
				start = i + 1
			}
		}
		yield(strings.TrimSpace(value[start:]))
	}
}
