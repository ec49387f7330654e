package schema

import (
	"bytes"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// maxSoundDepth is the deepest nesting of schemas that sound follows.
const maxSoundDepth = 10_000

// sound reports whether the JSON Schema library certainly compiles a schema. To compile one of 64 KiB takes it twenty milliseconds and some
// megabytes, which a document with hundreds of them can't have; almost all that are made here are plain enough to tell by one look at their
// text. False says nothing: the library is asked then.
func sound(schema []byte) bool {
	info, err := jsonscan.Scan(schema, jsonscan.Options{MaxDepth: 2 * maxSoundDepth})
	if err != nil || info.Spaced || info.Kind != jsonscan.Object {
		return false
	}
	s := soundness{text: schema, definitions: map[string]bool{}}
	for name, definition := range jsonscan.Members(jsonscan.Lookup(schema, "$defs")) {
		if kind := jsonscan.KindOf(definition); kind != jsonscan.Object && kind != jsonscan.Bool {
			return false
		}
		s.definitions[string(name)] = true
	}
	end := s.schema(0, 0)
	return end == len(schema)
}

// soundness reads the text of a schema once, from its beginning to its end. Its methods return the offset behind what they read, -1 if that
// may be refused by the library.
type soundness struct {
	text        []byte
	definitions map[string]bool // names in $defs
}

// schema reads the schema at i.
func (s *soundness) schema(i, depth int) int {
	switch s.text[i] {
	case 't', 'f':
		return jsonscan.Skip(s.text, i)
	case '{':
		if depth > maxSoundDepth {
			return -1
		}
		return s.members(i, func(name []byte, at int) int { return s.keyword(name, at, depth) })
	}
	return -1
}

// keyword reads the value at i of a keyword.
func (s *soundness) keyword(name []byte, i, depth int) int {
	next := func(_ []byte, at int) int { return s.schema(at, depth+1) }
	switch string(name) {
	case "not", "if", "then", "else", "items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames":
		return s.schema(i, depth+1)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return s.elements(i, next)
	case "properties", "patternProperties", "dependentSchemas":
		return s.members(i, next)
	case "$defs":
		if depth > 0 {
			return -1
		}
		return s.members(i, next)
	case "$ref":
		return s.reference(i)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
		"minProperties", "maxProperties", "minContains", "maxContains":
		return s.number(i)
	case "type", "enum", "const", "required", "dependentRequired", "pattern", "format", "title", "description", "default", "examples",
		"deprecated", "readOnly", "writeOnly", "uniqueItems", "contentEncoding", "contentMediaType", "$comment":
		return jsonscan.Skip(s.text, i)
	}
	return -1
}

// reference reads a reference, which must lead to the schema as a whole or to one of its definitions.
func (s *soundness) reference(i int) int {
	end := jsonscan.Skip(s.text, i)
	if s.text[i] != '"' {
		return -1
	}
	ref := string(s.text[i+1 : end-1])
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	if ref == "#" || ok && s.definitions[name] && !strings.ContainsFunc(name, func(r rune) bool { return !plainSign(r) }) {
		return end
	}
	return -1
}

// plainSign tells whether a sign needs no escape in a JSON pointer in a URI.
func plainSign(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_'
}

// number reads a number that is not dear to hold as a fraction.
func (s *soundness) number(i int) int {
	end := jsonscan.Skip(s.text, i)
	if text := s.text[i:end]; len(text) > maxDigits || bytes.ContainsAny(text, "eE") && !saneNumber(string(text)) {
		return -1
	}
	return end
}

// members reads the object at i, whose members are read by read.
func (s *soundness) members(i int, read func(name []byte, at int) int) int {
	if s.text[i] != '{' {
		return -1
	}
	for i++; s.text[i] != '}'; {
		if s.text[i] == ',' {
			i++
		}
		start := i
		i = jsonscan.Skip(s.text, i)
		name := jsonscan.Unquote(s.text[start:i])
		if i = read(name, i+1); i < 0 {
			return i
		}
	}
	return i + 1
}

// elements reads the array at i.
func (s *soundness) elements(i int, read func(name []byte, at int) int) int {
	if s.text[i] != '[' {
		return -1
	}
	for i++; s.text[i] != ']'; {
		if s.text[i] == ',' {
			i++
		}
		if i = read(nil, i); i < 0 {
			return i
		}
	}
	return i + 1
}
