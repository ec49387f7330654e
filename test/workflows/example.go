package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// maker makes values that schemas of a document allow, with all properties.
type maker struct{ document object }

// deepest is the depth from which on only required properties are made.
const deepest = 5

// properties returns the schemas of the members of an object, also those of allOf.
func (m *maker) properties(schema any) object {
	s, all := follow(m.document, schema), object{}
	parts, _ := s["allOf"].([]any)
	for _, part := range parts {
		maps.Copy(all, m.properties(part))
	}
	own, _ := s["properties"].(object)
	maps.Copy(all, own)
	return all
}

func (m *maker) required(schema any) (all []string) {
	s := follow(m.document, schema)
	parts, _ := s["allOf"].([]any)
	for _, part := range parts {
		all = append(all, m.required(part)...)
	}
	own, _ := s["required"].([]any)
	for _, name := range own {
		if text, ok := name.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// value returns a value that a schema allows. name is that of the member that has it.
func (m *maker) value(schema any, name string, depth int) any {
	s := follow(m.document, schema)
	if depth > 3*deepest {
		return nil
	}
	for _, keyword := range []string{"const", "default"} {
		if v, ok := s[keyword]; ok && v != nil && isOf(v, s["type"]) {
			return v
		}
	}
	if list, _ := s["enum"].([]any); len(list) > 0 {
		return list[0]
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if list, _ := s[keyword].([]any); len(list) > 0 && s["properties"] == nil {
			return m.value(list[0], name, depth+1)
		}
	}
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind, _ = list[0].(string)
	}
	properties := m.properties(s)
	if parts, _ := s["allOf"].([]any); kind == "" && len(properties) == 0 && len(parts) > 0 {
		return m.value(parts[0], name, depth+1)
	}
	switch {
	case kind == "object" || len(properties) > 0:
		return m.object(s, properties, depth)
	case kind == "array" || s["items"] != nil:
		list := []any{m.value(s["items"], name, depth+1)}
		if least, ok := s["minItems"].(json.Number); ok {
			for n, _ := strconv.Atoi(least.String()); len(list) < min(n, 10); {
				list = append(list, list[0])
			}
		}
		return list
	case kind == "integer" || kind == "number":
		if least, ok := s["minimum"].(json.Number); ok {
			return least
		}
		return 1
	case kind == "boolean":
		return true
	}
	return text(s, name)
}

// isOf reports whether a value is of the type that a schema has, if that is one: documents have defaults and examples of others.
func isOf(v, kind any) bool {
	switch v.(type) {
	case string:
		return kind != "array" && kind != "object" && kind != "boolean" && kind != "integer" && kind != "number"
	case json.Number:
		return kind != "array" && kind != "object" && kind != "boolean" && kind != "string"
	}
	return true
}

func (m *maker) object(s, properties object, depth int) any {
	required := m.required(s)
	made := object{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		of := follow(m.document, properties[name])
		if of["writeOnly"] == true || depth >= deepest && !slices.Contains(required, name) {
			continue
		}
		made[name] = m.value(of, name, depth+1)
	}
	for _, name := range required {
		if made[name] == nil && properties[name] == nil {
			made[name] = name
		}
	}
	return made
}

// text returns a text of a format, or the example of the schema.
func text(s object, name string) any {
	if example, ok := s["example"].(string); ok && example != "" {
		return example
	}
	if list, _ := s["examples"].([]any); len(list) > 0 {
		if example, ok := list[0].(string); ok {
			return example
		}
	}
	switch format, _ := s["format"].(string); format {
	case "uuid":
		return "123e4567-e89b-12d3-a456-426614174000"
	case "date-time":
		return "2026-01-02T03:04:05Z"
	case "date":
		return "2026-01-02"
	case "uri", "url":
		return "https://example.com/a"
	case "email":
		return "ann@example.com"
	case "byte", "binary":
		return "aGVsbG8="
	}
	made := name
	if least, ok := s["minLength"].(json.Number); ok {
		if n, err := strconv.Atoi(least.String()); err == nil && n > len(made) {
			made += strings.Repeat("x", n-len(made))
		}
	}
	if most, ok := s["maxLength"].(json.Number); ok {
		if n, err := strconv.Atoi(most.String()); err == nil && n < len(made) {
			made = made[:n]
		}
	}
	if pattern, _ := s["pattern"].(string); strings.Contains(pattern, `\d`) || strings.Contains(pattern, "0-9") {
		return "1234567890123456789"
	}
	return made
}
