package elicit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// configuredForm reads a form that the configuration spells out. Its schema may have what a form of the newest revision has,
// because clients refuse others, or show something else (2025-11-25 elicitation, Requested Schema).
func configuredForm(source []byte) (*form, error) {
	f, schema := &form{configured: source}, jsonschema.Parse(source)
	for _, k := range schema.Keywords() {
		switch k.Name {
		case "$schema", "properties", "required":
		case "type":
			if string(k.Value) != `"object"` {
				return nil, fmt.Errorf("the type of a form is object, got %s", k.Value)
			}
		default:
			return nil, fmt.Errorf("a form has no keyword %q; it has type, properties and required", k.Name)
		}
	}
	if !schema.Has("type") {
		return nil, fmt.Errorf("the form needs type: object")
	}
	properties := schema.Keyword("properties")
	if jsonscan.KindOf(properties.Value) != jsonscan.Object {
		return nil, fmt.Errorf("properties must be a mapping")
	}
	for _, p := range properties.Parts {
		field, err := configuredField(p.Name, p.Schema)
		if err != nil {
			return nil, fmt.Errorf("properties.%s: %w", p.Name, err)
		}
		f.fields = append(f.fields, field)
	}
	switch {
	case len(f.fields) == 0:
		return nil, fmt.Errorf("properties is empty; a form has fields")
	case len(f.fields) > maxFields:
		return nil, fmt.Errorf("the form has %d fields, more than %d", len(f.fields), maxFields)
	}
	required := schema.Value("required")
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

func configuredField(name string, schema *jsonschema.Schema) (field, error) {
	if !schema.IsObject() {
		return field{}, fmt.Errorf("expected a mapping")
	}
	f, err := fieldOf(name, schema, false)
	if err != nil {
		return f, err
	}
	if kind := schema.Text("type"); kind == "" || (f.kind == fieldChoice && kind != "string") {
		return f, fmt.Errorf("type must be string, number, integer, boolean or array, and string for a choice")
	}
	allowed := append(configuredKeywords(f.kind), "type", "title", "description", "default")
	for _, k := range schema.Keywords() {
		keyword, value := k.Name, k.Value
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
func (f *field) checkOptions(schema *jsonschema.Schema) error {
	if f.kind != fieldChoice && f.kind != fieldChoices {
		return nil
	}
	titled := "oneOf"
	if f.kind == fieldChoices {
		schema = schema.Schema("items")
		titled = "anyOf"
		for _, k := range schema.Keywords() {
			if !slices.Contains([]string{"type", "enum", "anyOf"}, k.Name) {
				return fmt.Errorf("a form has no keyword %q in items; it has type and enum, or anyOf", k.Name)
			}
		}
	}
	enum := schema.Value("enum")
	if schema.Has("enum") == schema.Has(titled) {
		return fmt.Errorf("a choice has either enum or %s", titled)
	}
	for value := range jsonscan.Elements(enum) {
		if jsonscan.KindOf(value) != jsonscan.String {
			return fmt.Errorf("enum must be a list of texts")
		}
	}
	for _, part := range schema.Parts(titled) {
		if jsonscan.KindOf(part.Schema.Value("const")) != jsonscan.String || jsonscan.KindOf(part.Schema.Value("title")) != jsonscan.String {
			return fmt.Errorf("each entry of %s has const and title, which are texts", titled)
		}
	}
	if names := schema.Keyword("enumNames"); names.Value != nil {
		all := names.Texts()
		for i, name := range all[:min(len(all), len(f.options))] {
			f.options[i].title = ShownText(name, maxFieldTitle)
		}
		if enum == nil || len(all) != len(f.options) {
			return fmt.Errorf("enumNames must have a name for each value of enum")
		}
	}
	return nil
}
