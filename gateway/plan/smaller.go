package plan

import (
	"slices"
	"strings"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/text"
)

// Smaller are the ways to a smaller response by arguments of a tool, as phrases for a model; each is "" if no argument gives it.
type Smaller struct {
	Pages   string // "ask for smaller pages with limit and page"
	Fields  string // "choose fields with fields"
	Filters string // "filter with status or q"
}

// Ways lists the ways.
func (s Smaller) Ways() []string {
	return slices.DeleteFunc([]string{s.Pages, s.Fields, s.Filters}, func(way string) bool { return way == "" })
}

// Names of arguments by which services let clients ask for less, as words.
var (
	pageSizes = []string{"limit", "per page", "page size", "pagesize", "perpage", "page limit", "max results", "maxresults", "max items", "max", "maximum", "size", "count", "top",
		"first", "take", "rows", "num results", "batch size", "results per page", "items per page"}
	pages = []string{"page", "page number", "pagenumber", "page no", "page num", "page index", "cursor", "next cursor", "page cursor", "offset", "page offset", "after", "starting after",
		"page token", "pagetoken", "next token", "nexttoken", "continuation token", "continue", "skip", "start", "start at", "start index", "marker", "scroll id"}
	fieldChoices = []string{"fields", "select", "columns", "attributes", "properties", "props", "projection", "mask", "fieldmask", "only", "exclude"}
	filters      = []string{"filter", "filters", "q", "query", "search", "where", "status", "state", "since", "until", "before", "from", "to", "type", "category", "tag", "tags", "label", "labels"}
)

// maxFilters is the maximum number of filters that are named.
const maxFilters = 3

// Smaller looks for arguments that make responses smaller, by their names and descriptions. It reads the schema of the arguments each time:
// few responses are too large.
func (p *Plan) Smaller() (s Smaller) {
	var size, page, fields string
	var narrowing []string
	for _, m := range lessArguments(p.given) {
		switch name := strings.Join(text.NameWords(m.Name), " "); {
		case size == "" && slices.Contains(pageSizes, name) && isNumber(m.Schema):
			size = m.Name
		case page == "" && slices.Contains(pages, name) && !isTime(m.Schema):
			page = m.Name
		case fields == "" && choosesFields(name):
			fields = m.Name
		case size == "" && isNumber(m.Schema) && says(m.Schema, "maximum number of", "max number of", "number of results", "number of items", "items per page", "results per page"):
			size = m.Name
		case !m.Required && (slices.Contains(filters, name) || says(m.Schema, "filter", "only return", "return only", "restrict")) && len(narrowing) < maxFilters:
			narrowing = append(narrowing, m.Name)
		}
	}
	switch {
	case size != "" && page != "":
		s.Pages = "ask for smaller pages with " + size + " and " + page
	case size != "":
		s.Pages = "ask for less with " + size
	case page != "":
		s.Pages = "ask for the next page with " + page
	}
	if fields != "" {
		s.Fields = "choose fields with " + fields
	}
	if len(narrowing) > 0 {
		s.Filters = "filter with " + strings.Join(narrowing, " or ")
	}
	return s
}

// lessArguments returns the arguments of an operation but those in its path, which say what is asked for.
func lessArguments(op *openapi.Operation) []jsonschema.Member {
	path := map[string]bool{SelectArgument: true}
	for _, a := range op.Arguments() {
		path[a.Name] = path[a.Name] || a.In == "path"
	}
	return slices.DeleteFunc(jsonschema.Parse(op.Input).Members(), func(m jsonschema.Member) bool { return path[m.Name] })
}

// choosesFields reports whether the words of an argument's name say that it chooses fields: select, include_fields, fields[articles].
func choosesFields(name string) bool {
	first, rest, _ := strings.Cut(name, " ")
	last := rest[strings.LastIndexByte(rest, ' ')+1:]
	return slices.Contains(fieldChoices, first) && rest == "" || first == "fields" || last == "fields" || last == "attributes"
}

// isNumber reports whether a value may be a number, also in a string.
func isNumber(s *jsonschema.Schema) bool {
	types := s.Allowed()
	return len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return t == "integer" || t == "number" || t == "string" })
}

// isTime reports whether a value is a date or a time, so that "after" and "start" are no position in a list.
func isTime(s *jsonschema.Schema) bool {
	var merged jsonschema.Merged
	merged.Merge(s)
	return strings.HasPrefix(merged.First("format").Text(), "date")
}

// says reports whether the description of an argument has one of some phrases.
func says(s *jsonschema.Schema, phrases ...string) bool {
	described := strings.ToLower(s.Text("description"))
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(described, phrase) })
}
