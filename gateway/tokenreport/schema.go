package tokenreport

import (
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// schemaEdit is a change of JSON Schemas. It knows which members are schemas, so that a property that is named enum or
// description, and values in examples, stay as they are.
type schemaEdit struct {
	description func(str []byte) []byte // the JSON string that replaces another; nil to leave it out
	dropEnums   bool
}

// apply returns the changed schema.
func (e schemaEdit) apply(schema []byte) []byte { return e.schema(nil, jsonschema.Parse(schema)) }

func (e schemaEdit) schema(dst []byte, s *jsonschema.Schema) []byte {
	if !s.IsObject() {
		return append(dst, s.Source()...)
	}
	dst = append(dst, '{')
	first := true
	for _, k := range s.Keywords() {
		value := e.value(k)
		if len(value) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(jsonscan.AppendString(dst, k.Name), ':'), value...)
	}
	return append(dst, '}')
}

// value returns the changed value of a keyword; nothing to leave the keyword out.
func (e schemaEdit) value(k jsonschema.Keyword) []byte {
	switch {
	case k.Name == "description" && e.description != nil && jsonscan.KindOf(k.Value) == jsonscan.String:
		return e.description(k.Value)
	case k.Name == "enum" && e.dropEnums:
		return nil
	}
	return k.AppendWith(nil, func(dst []byte, p jsonschema.Part) []byte { return e.schema(dst, p.Schema) })
}

// appendMembers appends a JSON object whose members are changed. A member that becomes empty is left out.
func appendMembers(dst, object []byte, change func(key string, value []byte) []byte) []byte {
	dst = append(dst, '{')
	first := true
	for key, value := range jsonscan.Members(object) {
		value = change(string(key), value)
		if len(value) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsonscan.AppendString(dst, key), ':')
		dst = append(dst, value...)
	}
	return append(dst, '}')
}
