package elicit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// configuredForm reads a form that the configuration spells out. Its schema may have what a form of the newest revision has,
// because clients refuse others, or show something else (2025-11-25 elicitation, Requested Schema).
func configuredForm(schema []byte) (*form, error) {
	f := &form{configured: schema}
	for key, value := range jsonscan.Members(schema) {
		switch name := string(key); name {
		case "$schema", "properties", "required":
		case "type":
			if string(value) != `"object"` {
				return nil, fmt.Errorf("the type of a form is object, got %s", value)
			}
		default:
			return nil, fmt.Errorf("a form has no keyword %q; it has type, properties and required", name)
		}
	}
	if jsonscan.Lookup(schema, "type") == nil {
		return nil, fmt.Errorf("the form needs type: object")
	}
	properties := jsonscan.Lookup(schema, "properties")
	if jsonscan.KindOf(properties) != jsonscan.Object {
		return nil, fmt.Errorf("properties must be a mapping")
	}
	for key, value := range jsonscan.Members(properties) {
		field, err := configuredField(string(key), value)
		if err != nil {
			return nil, fmt.Errorf("properties.%s: %w", key, err)
		}
		f.fields = append(f.fields, field)
	}
	switch {
	case len(f.fields) == 0:
		return nil, fmt.Errorf("properties is empty; a form has fields")
	case len(f.fields) > maxFields:
		return nil, fmt.Errorf("the form has %d fields, more than %d", len(f.fields), maxFields)
	}
	required := jsonscan.Lookup(schema, "required")
	if required != nil && jsonscan.KindOf(required) != jsonscan.Array {
		return nil, fmt.Errorf("required must be a list")
	}
	for item := range jsonscan.Elements(required) {
		name := string(jsonscan.Unquote(item))
		i := slices.IndexFunc(f.fields, func(f field) bool { return f.name == name })
		if jsonscan.KindOf(item) != jsonscan.String || i < 0 {
			return nil, fmt.Errorf("required names %s, which is no field", item)
		}
		f.fields[i].required = true
	}
	return f, nil
}

// configuredKeywords returns the keywords of a kind of field, besides type, title, description and default.
func configuredKeywords(kind fieldKind) []string {
	switch kind {
	case fieldText:
		return []string{"minLength", "maxLength", "format"}
	case fieldNumber, fieldInteger:
		return []string{"minimum", "maximum"}
	case fieldChoice:
		return []string{"enum", "enumNames", "oneOf"}
	case fieldChoices:
		return []string{"minItems", "maxItems", "items"}
	case fieldBoolean:
	}
	return nil
}

func configuredField(name string, schema []byte) (field, error) {
	if jsonscan.KindOf(schema) != jsonscan.Object {
		return field{}, fmt.Errorf("expected a mapping")
	}
	f, err := fieldOf(nil, name, schema, false)
	if err != nil {
		return f, err
	}
	if kind := string(jsonscan.Unquote(jsonscan.Lookup(schema, "type"))); kind == "" || (f.kind == fieldChoice && kind != "string") {
		return f, fmt.Errorf("type must be string, number, integer, boolean or array, and string for a choice")
	}
	allowed := append(configuredKeywords(f.kind), "type", "title", "description", "default")
	for key, value := range jsonscan.Members(schema) {
		keyword := string(key)
		switch {
		case !slices.Contains(allowed, keyword):
			return f, fmt.Errorf("a form has no keyword %q here; it has %s", keyword, strings.Join(allowed, ", "))
		case keyword == "default" && f.defaultValue == nil:
			return f, fmt.Errorf("the default %s does not fit", value)
		case (keyword == "title" || keyword == "description") && jsonscan.KindOf(value) != jsonscan.String:
			return f, fmt.Errorf("%s must be a text", keyword)
		case keyword == "format" && f.format == "" && string(value) != `"password"`:
			return f, fmt.Errorf("format must be one of %s", strings.Join(formats(), ", "))
		case slices.Contains([]string{"minLength", "maxLength", "minItems", "maxItems"}, keyword):
			if _, err := strconv.ParseUint(string(value), 10, 31); err != nil {
				return f, fmt.Errorf("%s must be a whole number", keyword)
			}
		case slices.Contains([]string{"minimum", "maximum"}, keyword) && jsonscan.KindOf(value) != jsonscan.Number:
			return f, fmt.Errorf("%s must be a number", keyword)
		}
	}
	return f, f.checkOptions(schema)
}

// checkOptions checks the options of a choice as the configuration has them, and reads enumNames, their titles in older forms.
func (f *field) checkOptions(schema []byte) error {
	if f.kind != fieldChoice && f.kind != fieldChoices {
		return nil
	}
	titled := "oneOf"
	if f.kind == fieldChoices {
		schema = jsonscan.Lookup(schema, "items")
		titled = "anyOf"
		for key := range jsonscan.Members(schema) {
			if !slices.Contains([]string{"type", "enum", "anyOf"}, string(key)) {
				return fmt.Errorf("a form has no keyword %q in items; it has type and enum, or anyOf", key)
			}
		}
	}
	enum, list := jsonscan.Lookup(schema, "enum"), jsonscan.Lookup(schema, titled)
	if (enum == nil) == (list == nil) {
		return fmt.Errorf("a choice has either enum or %s", titled)
	}
	for value := range jsonscan.Elements(enum) {
		if jsonscan.KindOf(value) != jsonscan.String {
			return fmt.Errorf("enum must be a list of texts")
		}
	}
	for part := range jsonscan.Elements(list) {
		if jsonscan.KindOf(jsonscan.Lookup(part, "const")) != jsonscan.String || jsonscan.KindOf(jsonscan.Lookup(part, "title")) != jsonscan.String {
			return fmt.Errorf("each entry of %s has const and title, which are texts", titled)
		}
	}
	if names := jsonscan.Lookup(schema, "enumNames"); names != nil {
		i := 0
		for name := range jsonscan.Elements(names) {
			if i < len(f.options) {
				f.options[i].title = ShownText(string(jsonscan.Unquote(name)), maxFieldTitle)
			}
			i++
		}
		if enum == nil || i != len(f.options) {
			return fmt.Errorf("enumNames must have a name for each value of enum")
		}
	}
	return nil
}
