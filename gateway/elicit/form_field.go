package elicit

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// errNoField is returned for a schema whose values a form can't request.
var errNoField = errors.New("it is not a text, a number, true or false, or a choice of texts or numbers, and a form has nothing else")

// fieldOf makes a field for values of a schema, whose references lead into the $defs of root. Keywords that a form can't have
// are left out: the values are checked when they are there.
func fieldOf(root []byte, name string, schema []byte, required bool) (field, error) {
	f := field{name: name, required: required}
	s := keywords{root: root, values: map[string][]byte{}}
	if !s.read(schema, 0) {
		return f, errNoField
	}
	f.title, f.description = ShownText(s.text("title"), maxFieldTitle), ShownText(s.text("description"), maxFieldText)
	f.format = s.text("format")
	f.password = f.format == "password"
	if f.options = s.options(); f.options != nil {
		f.kind = fieldChoice
	} else if err := f.setKind(&s); err != nil {
		return f, err
	}
	f.setBounds(&s)
	f.defaultValue = f.defaultOf(s.values["default"])
	return f, nil
}

// setKind sets the kind by the type.
func (f *field) setKind(s *keywords) error {
	switch s.kind() {
	case "string":
		if s.values["contentEncoding"] != nil || s.values["contentMediaType"] != nil || f.format == "binary" || f.format == "byte" {
			return errors.New("it is a file or binary, which no form can ask for")
		}
		f.kind = fieldText
	case "number":
		f.kind = fieldNumber
	case "integer":
		f.kind = fieldInteger
	case "boolean":
		f.kind = fieldBoolean
	case "array":
		items := keywords{root: s.root, values: map[string][]byte{}}
		if !items.read(s.values["items"], 0) {
			return errNoField
		}
		if f.options = items.options(); f.options == nil {
			return errors.New("it is a list without a fixed set of texts or numbers to choose from, and a form has no other lists")
		}
		f.kind = fieldChoices
	default:
		return errNoField
	}
	return nil
}

// setBounds sets the bounds that a form can have.
func (f *field) setBounds(s *keywords) {
	count := func(key string) string {
		if n, err := strconv.ParseUint(string(s.values[key]), 10, 31); err == nil {
			return strconv.FormatUint(n, 10)
		}
		return ""
	}
	number := func(key string) string {
		if jsonscan.KindOf(s.values[key]) == jsonscan.Number {
			return string(s.values[key])
		}
		return ""
	}
	if f.kind != fieldText || !slices.Contains(formats(), f.format) {
		f.format = ""
	}
	switch f.kind {
	case fieldText:
		f.minimum, f.maximum = count("minLength"), count("maxLength")
	case fieldNumber, fieldInteger:
		f.minimum, f.maximum = number("minimum"), number("maximum")
	case fieldChoices:
		f.minimum, f.maximum = count("minItems"), count("maxItems")
	case fieldBoolean, fieldChoice:
	}
}

// defaultOf returns a default that the field supports; nil if it does not.
func (f *field) defaultOf(value []byte) []byte {
	kind := jsonscan.KindOf(value)
	switch {
	case f.kind == fieldText && kind == jsonscan.String, f.kind == fieldNumber && kind == jsonscan.Number,
		f.kind == fieldBoolean && (string(value) == "true" || string(value) == "false"):
		return value
	case f.kind == fieldInteger:
		if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return value
		}
	case f.kind == fieldChoice:
		if text, ok := optionText(value); ok && f.has(text) {
			return jsonscan.AppendString(nil, text)
		}
	case f.kind == fieldChoices && kind == jsonscan.Array:
		dst := []byte{'['}
		for item := range jsonscan.Elements(value) {
			text, ok := optionText(item)
			if !ok || !f.has(text) {
				return nil
			}
			if len(dst) > 1 {
				dst = append(dst, ',')
			}
			dst = jsonscan.AppendString(dst, text)
		}
		return append(dst, ']')
	}
	return nil
}

func (f *field) has(value string) bool {
	return slices.ContainsFunc(f.options, func(o option) bool { return o.value == value })
}

// keywords are the keywords of a schema and of the schemas that it refers to or is composed of, as far as they stand for one.
type keywords struct {
	root   []byte
	values map[string][]byte
}

// read adds the keywords of a schema that are not there yet. It returns false if the schema has several alternatives.
func (s *keywords) read(schema []byte, depth int) bool {
	if jsonscan.KindOf(schema) != jsonscan.Object || depth > maxFieldNested {
		return false
	}
	for key, value := range jsonscan.Members(schema) {
		if _, said := s.values[string(key)]; !said {
			s.values[string(key)] = value
		}
	}
	if ref := jsonscan.Lookup(schema, "$ref"); ref != nil {
		name, ok := strings.CutPrefix(string(jsonscan.Unquote(ref)), "#/$defs/")
		if !ok || !s.read(jsonscan.Lookup(jsonscan.Lookup(s.root, "$defs"), name), depth+1) {
			return false
		}
	}
	for part := range jsonscan.Elements(jsonscan.Lookup(schema, "allOf")) {
		if !s.read(part, depth+1) {
			return false
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list := jsonscan.Lookup(schema, key)
		if list == nil || isConstants(list) {
			continue
		}
		var only []byte
		for part := range jsonscan.Elements(list) {
			if string(jsonscan.Lookup(part, "type")) == `"null"` {
				continue
			}
			if only != nil {
				return false
			}
			only = part
		}
		if !s.read(only, depth+1) {
			return false
		}
	}
	return true
}

// isConstants reports whether each alternative of a list is one value.
func isConstants(list []byte) bool {
	some := false
	for part := range jsonscan.Elements(list) {
		if jsonscan.Lookup(part, "const") == nil {
			return false
		}
		some = true
	}
	return some
}

func (s *keywords) text(key string) string {
	if value := s.values[key]; jsonscan.KindOf(value) == jsonscan.String {
		return string(jsonscan.Unquote(value))
	}
	return ""
}

// kind returns the only type besides null; "" if there is none, or more than one.
func (s *keywords) kind() (name string) {
	list := s.values["type"]
	if jsonscan.KindOf(list) == jsonscan.String {
		return s.text("type")
	}
	for item := range jsonscan.Elements(list) {
		switch text := string(jsonscan.Unquote(item)); {
		case text == "null":
		case name != "":
			return ""
		default:
			name = text
		}
	}
	return name
}

// options returns the values of an enumeration; nil if the schema is none, or has values that can't be shown as a choice.
func (s *keywords) options() (all []option) {
	add := func(value, title []byte) bool {
		text, ok := optionText(value)
		if !ok || len(all) == maxOptions {
			return string(value) == "null" && len(all) < maxOptions
		}
		o := option{value: text}
		if jsonscan.KindOf(title) == jsonscan.String {
			o.title = ShownText(string(jsonscan.Unquote(title)), maxFieldTitle)
		}
		if !slices.ContainsFunc(all, func(known option) bool { return known.value == text }) {
			all = append(all, o)
		}
		return true
	}
	if constant := s.values["const"]; constant != nil {
		add(constant, nil)
		return all
	}
	for value := range jsonscan.Elements(s.values["enum"]) {
		if !add(value, nil) {
			return nil
		}
	}
	if all != nil {
		return all
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		if list := s.values[key]; isConstants(list) {
			for part := range jsonscan.Elements(list) {
				title := jsonscan.Lookup(part, "title")
				if title == nil {
					title = jsonscan.Lookup(part, "description")
				}
				if !add(jsonscan.Lookup(part, "const"), title) {
					return nil
				}
			}
			return all
		}
	}
	return nil
}

// optionText returns the form's representation of an enumeration value: a number becomes its text, which coercion turns
// into a number again.
func optionText(value []byte) (string, bool) {
	kind := jsonscan.KindOf(value)
	if kind == jsonscan.String {
		return string(jsonscan.Unquote(value)), true
	}
	return string(value), kind == jsonscan.Number
}
