package openapi

import (
	"bytes"
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// schemaEditor changes the names and the texts of arguments in an input schema, wherever its composition declares or
// requires them.
type schemaEditor struct {
	definitions
	names   map[string]string // new names by the old ones
	changes map[string]CuratedArgument
	failed  bool // a name can't be changed everywhere
}

// input returns the changed schema.
func (e *schemaEditor) input() ([]byte, error) {
	text := e.schema(e.root, 0)
	if e.failed {
		return nil, errNotRenamable
	}
	return e.addTo(text), nil
}

// schema returns a schema of the object of all arguments with the changes; its text if none concerns it.
func (e *schemaEditor) schema(s *jsonschema.Schema, depth int) []byte {
	text := s.Source()
	if !s.IsObject() {
		return text
	}
	if depth > jsonschema.MaxDepth {
		e.failed = e.failed || len(e.names) > 0
		return text
	}
	edit := func(s *jsonschema.Schema) []byte { return e.schema(s, depth+1) }
	dst := []byte{'{'}
	for _, k := range s.Keywords() {
		value := k.Value
		switch k.Name {
		case "properties":
			value = e.properties(k.Parts)
		case "required":
			value = e.required(value)
		case "dependentRequired":
			value = e.dependentRequired(value)
		case "dependentSchemas":
			value = e.members(k.Parts, edit)
		case "allOf", "anyOf", "oneOf", "if", "then", "else", "not":
			value = k.AppendWith(nil, func(dst []byte, p jsonschema.Part) []byte { return append(dst, edit(p.Schema)...) })
		case "$ref":
			var followed bool
			value, followed = e.reference(s, edit)
			e.failed = e.failed || !followed && len(e.names) > 0 // the whole schema, or what is not known
		case "patternProperties", "propertyNames":
			e.failed = e.failed || len(e.names) > 0
		}
		dst = jsonscan.AppendMember(dst, k.Name, value)
	}
	if dst = append(dst, '}'); bytes.Equal(dst, text) {
		return text
	}
	return dst
}

func (e *schemaEditor) name(name string) string {
	if to, ok := e.names[name]; ok {
		return to
	}
	return name
}

func (e *schemaEditor) properties(parts []jsonschema.Part) []byte {
	dst := []byte{'{'}
	for _, p := range parts {
		value := p.Schema.Source()
		if change, ok := e.changes[p.Name]; ok {
			value = change.describe(p.Schema)
		}
		dst = jsonscan.AppendMember(dst, e.name(p.Name), value)
	}
	return append(dst, '}')
}

// describe returns the schema of the argument with the texts of the change.
func (c *CuratedArgument) describe(s *jsonschema.Schema) []byte {
	var more []jsonschema.Keyword
	if c.Description != "" {
		more = append(more, jsonschema.Keyword{Name: "description", Value: jsonscan.AppendString(nil, c.Description)})
	}
	if c.Default != nil {
		more = append(more, jsonschema.Keyword{Name: "default", Value: c.Default})
	}
	if c.Example != nil {
		more = append(more, jsonschema.Keyword{Name: "examples", Value: append(append([]byte{'['}, c.Example...), ']')})
	}
	if more == nil || string(s.Source()) == "false" {
		return s.Source()
	}
	dst := []byte{'{'}
	for _, k := range s.Keywords() {
		if !slices.ContainsFunc(more, func(m jsonschema.Keyword) bool { return m.Name == k.Name }) {
			dst = jsonscan.AppendMember(dst, k.Name, k.Value)
		}
	}
	for _, k := range more {
		dst = jsonscan.AppendMember(dst, k.Name, k.Value)
	}
	return append(dst, '}')
}

func (e *schemaEditor) required(list []byte) []byte {
	dst := []byte{'['}
	for item := range jsonscan.Elements(list) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, e.name(string(jsonscan.Unquote(item))))
	}
	return append(dst, ']')
}

func (e *schemaEditor) dependentRequired(object []byte) []byte {
	dst := []byte{'{'}
	for name, list := range jsonscan.Members(object) {
		dst = jsonscan.AppendMember(dst, e.name(string(name)), e.required(list))
	}
	return append(dst, '}')
}

// members returns an object whose members are named after arguments.
func (e *schemaEditor) members(parts []jsonschema.Part, edit func(*jsonschema.Schema) []byte) []byte {
	dst := []byte{'{'}
	for _, p := range parts {
		dst = jsonscan.AppendMember(dst, e.name(p.Name), edit(p.Schema))
	}
	return append(dst, '}')
}
