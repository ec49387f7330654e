package elicit

import (
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// maxServiceSchema limits the schema that a service sends for a form, in bytes.
const maxServiceSchema = 8 << 10

// textForm is the form of a question whose schema clients can't show.
const textForm = `{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}`

// ServiceForm returns the schema of a form, made of the JSON Schema that a service sends as far as clients can show it (mcp-E8);
// a schema that they can't show becomes a form with one text. If a field looks like that of a secret, ServiceForm returns its
// name and no schema.
func ServiceForm(source []byte) (clean []byte, secret string) {
	if len(source) > maxServiceSchema {
		return []byte(textForm), ""
	}
	schema := jsonschema.Parse(source)
	required := schema.Required()
	f, whole := &form{}, true
	for _, p := range schema.Parts("properties") {
		name := p.Name
		field, err := fieldOf(name, p.Schema, slices.Contains(required, name))
		if field.password || namesSecret(name) || namesSecret(field.title) {
			return nil, name
		}
		whole = whole && err == nil && !strings.ContainsFunc(name, Invisible) && hasTextOptions(p.Schema) &&
			!slices.ContainsFunc(field.options, func(o option) bool { return strings.ContainsFunc(o.value, Invisible) })
		f.fields = append(f.fields, field)
	}
	if !whole || len(f.fields) == 0 || len(f.fields) > maxFields {
		return []byte(textForm), ""
	}
	clean, err := f.schema(formFull, func(string) bool { return true })
	if err != nil {
		return []byte(textForm), ""
	}
	return clean, ""
}

// hasTextOptions reports whether the options of a field are texts: a form gives a text, which is not the number that the service
// offers.
func hasTextOptions(field *jsonschema.Schema) bool {
	for _, s := range []*jsonschema.Schema{field, field.Schema("items")} {
		for value := range jsonscan.Elements(s.Value("enum")) {
			if jsonscan.KindOf(value) != jsonscan.String {
				return false
			}
		}
	}
	return true
}

// ServiceAnswer returns the members of an answer that a form of [ServiceForm] requests. The error is for the user.
func ServiceAnswer(form, answer []byte) ([]byte, error) {
	f, err := configuredForm(form)
	if err != nil {
		return nil, err
	}
	if err := f.validate(answer, formFull, func(string) bool { return true }); err != nil {
		return nil, err
	}
	dst := []byte{'{'}
	for i := range f.fields {
		name := f.fields[i].name
		value := jsonscan.Lookup(answer, name)
		if value == nil || jsonscan.KindOf(value) == jsonscan.Null {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(jsonscan.AppendString(dst, name), ':'), value...)
	}
	return append(dst, '}'), nil
}
