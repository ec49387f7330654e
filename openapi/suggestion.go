package openapi

import (
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Limits of Suggestions: documents may have any number of values.
const (
	maxSuggestions = 1000
	maxSuggestion  = 200 // bytes of one
)

// Suggestions returns the values that the document has for an argument, or for the items of one that is a list: constants,
// enums, examples and the default, each once, in that order; for a boolean true and false. A string is as it is, a number as
// it is written. Values of other types, and long ones, are left out.
func (o *Operation) Suggestions(argument string) []string {
	s := suggester{known: map[string]bool{}}
	s.add(o.inputSchema().Property(argument), 0)
	return s.values
}

type suggester struct {
	values []string
	known  map[string]bool
}

func (s *suggester) add(schema *jsonschema.Schema, depth int) {
	if schema == nil || depth > jsonschema.MaxDepth || len(s.values) >= maxSuggestions {
		return
	}
	s.add(schema.Target(), depth+1)
	s.value(schema.Value("const"))
	s.list(schema.Value("enum"))
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		for _, part := range schema.Parts(key) {
			s.add(part.Schema, depth+1)
		}
	}
	if isBoolean(schema.Types()) {
		s.value([]byte("true"))
		s.value([]byte("false"))
	}
	s.value(schema.Value("default"))
	s.value(schema.Value("example"))
	s.list(schema.Value("examples"))
	s.add(schema.Schema("items"), depth+1)
}

// isBoolean reports whether a type is boolean, which may be null besides.
func isBoolean(types []string) bool {
	return slices.Contains(types, "boolean") && !slices.ContainsFunc(types, func(name string) bool { return name != "boolean" && name != "null" })
}

func (s *suggester) list(list []byte) {
	if jsonscan.KindOf(list) == jsonscan.Array {
		for item := range jsonscan.Elements(list) {
			s.value(item)
		}
	}
}

func (s *suggester) value(value []byte) {
	text, ok := PlainText(value)
	if ok && len(text) <= maxSuggestion && !s.known[text] && len(s.values) < maxSuggestions {
		s.known[text] = true
		s.values = append(s.values, text)
	}
}

// PlainText returns a JSON value as a person would write it into a form: a string as it is, a number or boolean as it is
// written. ok is false for others and for nothing.
func PlainText(value []byte) (text string, ok bool) {
	switch jsonscan.KindOf(value) {
	case jsonscan.String:
		return string(jsonscan.Unquote(value)), true
	case jsonscan.Number, jsonscan.Bool:
		return string(value), true
	case jsonscan.Null, jsonscan.Array, jsonscan.Object:
	}
	return "", false
}
