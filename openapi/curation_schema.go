package openapi

import (
	"bytes"

	"drawbridge/openapi/jsonscan"
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

// schema returns a schema of the object of all arguments with the changes; text itself if none concerns it.
func (e *schemaEditor) schema(text []byte, depth int) []byte {
	if jsonscan.KindOf(text) != jsonscan.Object {
		return text
	}
	if depth > maxRelaxed {
		e.failed = e.failed || len(e.names) > 0
		return text
	}
	dst := []byte{'{'}
	for key, value := range jsonscan.Members(text) {
		switch string(key) {
		case "properties":
			value = e.properties(value)
		case "required":
			value = e.required(value)
		case "dependentRequired":
			value = e.members(value, func(list []byte) []byte { return e.required(list) })
		case "dependentSchemas":
			value = e.members(value, func(part []byte) []byte { return e.schema(part, depth+1) })
		case "allOf", "anyOf", "oneOf":
			value = e.elements(value, depth)
		case "if", "then", "else", "not":
			value = e.schema(value, depth+1)
		case "$ref":
			value = e.reference(value, depth)
		case "patternProperties", "propertyNames":
			e.failed = e.failed || len(e.names) > 0
		}
		dst = appendMember(dst, string(key), value)
	}
	if dst = append(dst, '}'); bytes.Equal(dst, text) {
		return text
	}
	return dst
}

func (e *schemaEditor) name(name []byte) string {
	if to, ok := e.names[string(name)]; ok {
		return to
	}
	return string(name)
}

func (e *schemaEditor) properties(object []byte) []byte {
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		if change, ok := e.changes[string(name)]; ok {
			value = change.describe(value)
		}
		dst = appendMember(dst, e.name(name), value)
	}
	return append(dst, '}')
}

// describe returns the schema of the argument with the texts of the change.
func (c *CuratedArgument) describe(text []byte) []byte {
	type keyword struct {
		name  string
		value []byte
	}
	var more []keyword
	if c.Description != "" {
		more = append(more, keyword{"description", jsonscan.AppendString(nil, c.Description)})
	}
	if c.Default != nil {
		more = append(more, keyword{"default", c.Default})
	}
	if c.Example != nil {
		more = append(more, keyword{"examples", append(append([]byte{'['}, c.Example...), ']')})
	}
	if more == nil || string(text) == "false" {
		return text
	}
	if jsonscan.KindOf(text) != jsonscan.Object {
		text = []byte("{}")
	}
	dst := []byte{'{'}
members:
	for key, value := range jsonscan.Members(text) {
		for _, k := range more {
			if k.name == string(key) {
				continue members
			}
		}
		dst = appendMember(dst, string(key), value)
	}
	for _, k := range more {
		dst = appendMember(dst, k.name, k.value)
	}
	return append(dst, '}')
}

func (e *schemaEditor) required(list []byte) []byte {
	dst := []byte{'['}
	for item := range jsonscan.Elements(list) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendString(dst, e.name(jsonscan.Unquote(item)))
	}
	return append(dst, ']')
}

// members returns an object whose members are named after arguments.
func (e *schemaEditor) members(object []byte, edit func([]byte) []byte) []byte {
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		dst = appendMember(dst, e.name(name), edit(value))
	}
	return append(dst, '}')
}

func (e *schemaEditor) elements(list []byte, depth int) []byte {
	return mapElements(list, func(item []byte) []byte { return e.schema(item, depth+1) })
}

// reference returns a reference to the changed definition.
func (e *schemaEditor) reference(ref []byte, depth int) []byte {
	changed, followed := e.definitions.reference(ref, func(definition []byte) []byte { return e.schema(definition, depth+1) })
	e.failed = e.failed || !followed && len(e.names) > 0 // the whole schema, or what is not known
	return changed
}
