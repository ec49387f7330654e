package openapi

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
)

// Limits of Suggestions: documents may have any number of values, and schemas that refer to each other.
const (
	maxSuggestions     = 1000
	maxSuggestion      = 200 // bytes of one
	maxSuggestionDepth = 8
)

// Suggestions returns the values that the document has for an argument, or for the items of one that is a list: constants,
// enums, examples and the default, each once, in that order; for a boolean true and false. A string is as it is, a number as
// it is written. Values of other types, and long ones, are left out.
func (o *Operation) Suggestions(argument string) []string {
	s := suggester{input: o.Input, known: map[string]bool{}}
	schema := jsonscan.Lookup(jsonscan.Lookup(o.Input, "properties"), argument)
	s.add(schema, 0)
	return s.values
}

type suggester struct {
	input  []byte
	values []string
	known  map[string]bool
}

func (s *suggester) add(schema []byte, depth int) {
	if jsonscan.KindOf(schema) != jsonscan.Object || depth > maxSuggestionDepth || len(s.values) >= maxSuggestions {
		return
	}
	if ref, ok := bytes.CutPrefix(jsonscan.Lookup(schema, "$ref"), []byte(`"#/$defs/`)); ok {
		name := string(jsonscan.Unquote(append([]byte{'"'}, ref...)))
		s.add(jsonscan.Lookup(jsonscan.Lookup(s.input, "$defs"), name), depth+1)
	}
	s.value(jsonscan.Lookup(schema, "const"))
	s.list(jsonscan.Lookup(schema, "enum"), s.value)
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		s.list(jsonscan.Lookup(schema, key), func(part []byte) { s.add(part, depth+1) })
	}
	if isBoolean(jsonscan.Lookup(schema, "type")) {
		s.value([]byte("true"))
		s.value([]byte("false"))
	}
	s.value(jsonscan.Lookup(schema, "default"))
	s.value(jsonscan.Lookup(schema, "example"))
	s.list(jsonscan.Lookup(schema, "examples"), s.value)
	s.add(jsonscan.Lookup(schema, "items"), depth+1)
}

// isBoolean tells whether a type is boolean, which may be null besides.
func isBoolean(kind []byte) bool {
	if jsonscan.KindOf(kind) != jsonscan.Array {
		return string(kind) == `"boolean"`
	}
	boolean := false
	for one := range jsonscan.Elements(kind) {
		switch string(one) {
		case `"boolean"`:
			boolean = true
		case `"null"`:
		default:
			return false
		}
	}
	return boolean
}

func (s *suggester) list(list []byte, add func([]byte)) {
	if jsonscan.KindOf(list) == jsonscan.Array {
		for item := range jsonscan.Elements(list) {
			add(item)
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
