package tokenreport

import "drawbridge/openapi/jsonscan"

// schemaEdit is a change of JSON Schemas. It knows which members are schemas, so that a property that is named enum or
// description, and values in examples, stay as they are.
type schemaEdit struct {
	description func(str []byte) []byte // the JSON string that replaces another; nil to leave it out
	dropEnums   bool
}

// append appends the changed schema.
func (e schemaEdit) append(dst, schema []byte) []byte {
	if jsonscan.KindOf(schema) != jsonscan.Object {
		return append(dst, schema...)
	}
	return appendMembers(dst, schema, func(key string, value []byte) []byte {
		switch key {
		case "description":
			if e.description != nil && jsonscan.KindOf(value) == jsonscan.String {
				return e.description(value)
			}
		case "enum":
			if e.dropEnums {
				return nil
			}
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			if jsonscan.KindOf(value) == jsonscan.Object {
				return appendMembers(nil, value, func(_ string, schema []byte) []byte { return e.append(nil, schema) })
			}
		case "allOf", "anyOf", "oneOf", "prefixItems", "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
			"unevaluatedProperties", "unevaluatedItems":
			if jsonscan.KindOf(value) == jsonscan.Array {
				return e.appendAll(nil, value)
			}
			return e.append(nil, value)
		}
		return value
	})
}

// appendAll appends an array of changed schemas.
func (e schemaEdit) appendAll(dst, schemas []byte) []byte {
	dst = append(dst, '[')
	first := true
	for schema := range jsonscan.Elements(schemas) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = e.append(dst, schema)
	}
	return append(dst, ']')
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
