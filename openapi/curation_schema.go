package openapi

import (
	"bytes"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// schemaEditor changes the names and the texts of arguments in an input schema, wherever its composition declares or
// requires them.
type schemaEditor struct {
	root    []byte
	names   map[string]string // new names by the old ones
	changes map[string]CuratedArgument
	made    map[string]string // new name of a definition by its old one; the old one if it needs no new one
	defs    []byte            // members: definitions that were made anew
	failed  bool              // a name can't be changed everywhere
}

// input returns the changed schema.
func (e *schemaEditor) input() ([]byte, error) {
	text := e.schema(e.root, 0)
	if e.failed {
		return nil, errNotRenamable
	}
	if len(e.defs) == 0 {
		return text, nil
	}
	dst, found := []byte{'{'}, false
	for key, value := range jsonscan.Members(text) {
		if string(key) == "$defs" && len(value) > len("{}") {
			value, found = append(append(append(bytes.Clone(value[:len(value)-1]), ','), e.defs...), '}'), true
		}
		dst = appendMember(dst, string(key), value)
	}
	if !found {
		dst = appendMember(dst, "$defs", append(append([]byte{'{'}, e.defs...), '}'))
	}
	return append(dst, '}'), nil
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
	dst := []byte{'['}
	for item := range jsonscan.Elements(list) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, e.schema(item, depth+1)...)
	}
	return append(dst, ']')
}

// reference returns a reference to a changed definition, which is a new one: others may refer to the old one for another
// object.
func (e *schemaEditor) reference(ref []byte, depth int) []byte {
	const defs = "#/$defs/"
	name, ok := strings.CutPrefix(string(jsonscan.Unquote(ref)), defs)
	if !ok {
		e.failed = e.failed || len(e.names) > 0 // the whole schema, or what is not known
		return ref
	}
	if made, known := e.made[name]; known {
		return jsonscan.AppendString(nil, defs+made)
	}
	all := jsonscan.Lookup(e.root, "$defs")
	target := jsonscan.Lookup(all, name)
	switch {
	case target == nil:
		return ref
	case len(e.made) >= maxRelaxedDefs:
		e.failed = e.failed || len(e.names) > 0
		return ref
	}
	made := name + "_shown"
	for jsonscan.Lookup(all, made) != nil {
		made += "_"
	}
	e.made[name] = made // what refers to itself finds the new one
	changed := e.schema(target, depth+1)
	if bytes.Equal(changed, target) {
		e.made[name] = name
		return ref
	}
	if len(e.defs) > 0 {
		e.defs = append(e.defs, ',')
	}
	e.defs = append(append(jsonscan.AppendString(e.defs, made), ':'), changed...)
	return jsonscan.AppendString(nil, defs+made)
}
