package schema

import (
	"bytes"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// maxCompilableDepth is the deepest nesting of JSON values that certainlyCompiles follows.
const maxCompilableDepth = 10_000

// certainlyCompiles reports whether the JSON Schema library certainly compiles a schema. Compiling one of 64 KiB takes it twenty
// milliseconds and some megabytes, too much for documents with hundreds of them. Almost all schemas that are made here are simple enough
// to decide without it. If the result is false, the library decides.
func certainlyCompiles(s *jsonschema.Schema) bool {
	info, err := jsonscan.Scan(s.Source(), jsonscan.Options{MaxDepth: maxCompilableDepth})
	return err == nil && !info.Spaced && info.Kind == jsonscan.Object && compilableSchema(s)
}

// compilableSchema reports whether the library certainly takes a part of a schema.
func compilableSchema(s *jsonschema.Schema) bool {
	if !s.IsObject() {
		return jsonscan.KindOf(s.Source()) == jsonscan.Bool
	}
	for _, k := range s.Keywords() {
		if !compilableKeyword(s, k) {
			return false
		}
		for _, part := range k.Parts {
			if !compilableSchema(part.Schema) {
				return false
			}
		}
	}
	return true
}

// compilableKeyword reports whether the library certainly takes the value of a keyword, apart from the schemas in it.
func compilableKeyword(s *jsonschema.Schema, k jsonschema.Keyword) bool {
	switch k.Name {
	case "not", "if", "then", "else", "items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames":
		return true
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return jsonscan.KindOf(k.Value) == jsonscan.Array
	case "properties", "patternProperties", "dependentSchemas":
		return jsonscan.KindOf(k.Value) == jsonscan.Object
	case "$defs":
		return s == s.Root() && jsonscan.KindOf(k.Value) == jsonscan.Object
	case "$ref":
		return k.Text() == "#" || s.Target() != nil && !strings.ContainsFunc(s.Reference(), func(r rune) bool { return !plainSign(r) }) && s.Reference() != ""
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties", "minContains", "maxContains":
		return len(k.Value) <= maxDigits && (!bytes.ContainsAny(k.Value, "eE") || saneNumber(string(k.Value)))
	case "type", "enum", "const", "required", "dependentRequired", "pattern", "format", "title", "description", "default", "examples",
		"deprecated", "readOnly", "writeOnly", "uniqueItems", "contentEncoding", "contentMediaType", "$comment":
		return true
	}
	return false
}

// plainSign reports whether a sign needs no escape in a JSON pointer in a URI.
func plainSign(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_'
}
