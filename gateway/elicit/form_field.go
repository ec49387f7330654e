package elicit

import (
	"errors"
	"slices"
	"strconv"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// errNoField is returned for a schema whose values a form can't request.
var errNoField = errors.New("it is not a text, a number, true or false, or a choice of texts or numbers, and a form has nothing else")

// fieldOf makes a field for values of a schema. Keywords that a form can't have are left out: the values are checked when they are
// there.
func fieldOf(name string, schema *jsonschema.Schema, required bool) (field, error) {
	f := field{name: name, required: required}
	s, ok := keywordsOf(schema)
	if !ok {
		return f, errNoField
	}
	f.title, f.description = ShownText(s.text("title"), maxFieldTitle), ShownText(s.text("description"), maxFieldText)
	f.format = s.text("format")
	f.password = f.format == "password"
	if f.options = s.options(); f.options != nil {
		f.kind = fieldChoice
	} else if err := f.setKind(s); err != nil {
		return f, err
	}
	f.setBounds(s)
	f.defaultValue = f.defaultOf(s.Nearest("default").Value)
	return f, nil
}

// setKind sets the kind by the type.
func (f *field) setKind(s keywords) error {
	switch s.kind() {
	case "string":
		if s.Has("contentEncoding") || s.Has("contentMediaType") || f.format == "binary" || f.format == "byte" {
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
		items, ok := keywordsOf(s.Nearest("items").Schema())
		if !ok {
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
func (f *field) setBounds(s keywords) {
	count := func(key string) string {
		if n, err := strconv.ParseUint(string(s.Nearest(key).Value), 10, 31); err == nil {
			return strconv.FormatUint(n, 10)
		}
		return ""
	}
	number := func(key string) string {
		if value := s.Nearest(key).Value; jsonscan.KindOf(value) == jsonscan.Number {
			return string(value)
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

// keywords are what a schema says of a value, references, composition and the only alternative to null included.
type keywords struct {
	*jsonschema.Merged
	constants []jsonschema.Part // the alternatives, if each is one value
}

// keywordsOf returns the keywords of a schema. It is false if the schema has several alternatives, or a reference leads nowhere.
func keywordsOf(schema *jsonschema.Schema) (s keywords, ok bool) {
	if !schema.IsObject() {
		return s, false
	}
	s.Merged = jsonschema.Merge(schema)
	for i := 0; i < len(s.Values("anyOf")); i++ { // grows
		list := s.Values("anyOf")[i].Parts
		if areConstants(list) {
			continue
		}
		var only *jsonschema.Schema
		for _, part := range list {
			if part.Schema.Text("type") == "null" {
				continue
			}
			if only != nil {
				return s, false
			}
			only = part.Schema
		}
		s.Merge(only)
	}
	for part, role := range schema.Applied() {
		if role == jsonschema.Always && (!part.IsObject() || part.HasReference() && part.Resolve() == nil) {
			return s, false
		}
		for _, key := range []string{"oneOf", "anyOf"} {
			if list := part.Parts(key); s.constants == nil && role != jsonschema.Condition && areConstants(list) {
				s.constants = list
			}
		}
	}
	return s, true
}

// areConstants reports whether each of several alternatives is one value.
func areConstants(list []jsonschema.Part) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(p jsonschema.Part) bool { return !p.Schema.Has("const") })
}

func (s keywords) text(key string) string { return s.Nearest(key).Text() }

// kind returns the only type besides null; "" if there is none, or more than one.
func (s keywords) kind() (name string) {
	list := s.Nearest("type").Texts()
	if len(list) == 1 {
		return list[0]
	}
	for _, text := range list {
		switch {
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
func (s keywords) options() (all []option) {
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
	if constant := s.Nearest("const").Value; constant != nil && s.constants == nil {
		add(constant, nil)
		return all
	}
	for value := range jsonscan.Elements(s.Nearest("enum").Value) {
		if !add(value, nil) {
			return nil
		}
	}
	if all != nil {
		return all
	}
	for _, part := range s.constants {
		title := part.Schema.Value("title")
		if title == nil {
			title = part.Schema.Value("description")
		}
		if !add(part.Schema.Value("const"), title) {
			return nil
		}
	}
	return all
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
