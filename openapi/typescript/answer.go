package typescript

import (
	"strings"

	"drawbridge/openapi/jsonschema"
)

// field is one member of an answer.
type field struct {
	name   string
	suffix string // "[]" for each level of lists
	of     *jsonschema.Schema
	inner  string // its members
}

func (f field) text() string { return f.name + f.suffix + f.inner }

// leastFields is the number of members of an object that are shown if there isn't room for all.
const leastFields = 3

// answer returns the members of an answer by their names, and while there is room those of its objects and lists; "" if nothing is
// known of it.
func (s *signature) answer(output *jsonschema.Schema, length int) string {
	suffix, of := s.element(output)
	sh := s.shape(of)
	if len(sh.members) == 0 {
		if len(sh.kinds) == 0 || sh.kinds[0] == "object" {
			if suffix == "" {
				return ""
			}
			return "any" + suffix
		}
		return strings.Join(withoutNull(sh.kinds), "|") + suffix
	}
	fields, cut := s.fields(sh, length)
	if len(fields) == 0 {
		return ""
	}
	room := length
	for _, f := range fields {
		room -= len(f.text()) + len(", ")
	}
	for i := range fields {
		f := &fields[i]
		inner := s.shape(f.of)
		if len(inner.members) == 0 || f.of == of {
			continue
		}
		below, more := s.fields(inner, room-len("{, …}"))
		if text := fieldsText(below, more); len(text) <= room && (!more || len(below) >= leastFields) {
			f.inner = text
			room -= len(text)
		}
	}
	return fieldsText(fields, cut) + suffix
}

// fields returns the members of an object as far as their names fit in a length, and whether there are more.
func (s *signature) fields(sh *shape, limit int) (all []field, more bool) {
	length := 0
	for _, m := range sh.members {
		suffix, of := s.element(m.Schema)
		f := field{name: memberName(m.Name), suffix: suffix, of: of}
		if length += len(f.text()) + len(", "); length > limit {
			return all, true
		}
		all = append(all, f)
	}
	return all, false
}

// element returns the schema of the elements of a list of lists of any depth, with a suffix for each, or the schema itself.
func (s *signature) element(schema *jsonschema.Schema) (suffix string, of *jsonschema.Schema) {
	for range jsonschema.MaxDepth {
		schema = schema.Resolve()
		sh := s.shape(schema)
		if !sh.is("array") {
			break
		}
		suffix += "[]"
		if schema = sh.items; schema == nil {
			break
		}
	}
	return suffix, schema.Resolve()
}

func fieldsText(fields []field, more bool) string {
	texts := make([]string, len(fields), len(fields)+1)
	for i, f := range fields {
		texts[i] = f.text()
	}
	if more {
		texts = append(texts, "…")
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

func withoutNull(kinds []string) (all []string) {
	for _, kind := range kinds {
		if kind != "null" || len(kinds) == 1 {
			all = append(all, kind)
		}
	}
	return all
}
