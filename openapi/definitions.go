package openapi

import (
	"bytes"
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// definitions are the $defs of a schema, of which some are made again with a change: others may refer to the old ones for
// another object.
type definitions struct {
	root   *jsonschema.Schema
	suffix string            // of the names of new definitions
	made   map[string]string // new name of a definition by its old one; the old one if it needs no new one
	added  []byte            // members: the new definitions
}

func newDefinitions(root *jsonschema.Schema, suffix string) definitions {
	return definitions{root: root, suffix: suffix, made: map[string]string{}}
}

// reference returns the reference of a schema to a definition as change returns it; the reference itself if that changes nothing. It returns
// false if the reference leads elsewhere than to $defs, or if too many definitions were made again.
func (d *definitions) reference(s *jsonschema.Schema, change func(definition *jsonschema.Schema) []byte) (changed []byte, followed bool) {
	ref, name := s.Value("$ref"), s.Reference()
	if name == "" {
		return ref, false
	}
	if made, known := d.made[name]; known {
		return jsonscan.AppendString(nil, jsonschema.ReferenceTo(made)), true
	}
	target := d.root.Definition(name)
	switch {
	case target == nil:
		return ref, true
	case len(d.made) >= maxRelaxedDefs:
		return ref, false
	}
	made := name + d.suffix
	for d.root.Definition(made) != nil {
		made += "_"
	}
	d.made[name] = made // what refers to itself finds the new one
	definition := change(target)
	if bytes.Equal(definition, target.Source()) {
		d.made[name] = name
		return ref, true
	}
	if len(d.added) > 0 {
		d.added = append(d.added, ',')
	}
	d.added = append(append(jsonscan.AppendString(d.added, made), ':'), definition...)
	return jsonscan.AppendString(nil, jsonschema.ReferenceTo(made)), true
}

// addTo returns a schema with the new definitions beside its own.
func (d *definitions) addTo(schema []byte) []byte {
	if len(d.added) == 0 {
		return schema
	}
	dst, found := []byte{'{'}, false
	for name, value := range jsonscan.Members(schema) {
		if string(name) == "$defs" && len(value) > len("{}") {
			value, found = slices.Concat(value[:len(value)-1], []byte{','}, d.added, []byte{'}'}), true
		}
		dst = jsonscan.AppendMember(dst, string(name), value)
	}
	if !found {
		dst = jsonscan.AppendMember(dst, "$defs", slices.Concat([]byte{'{'}, d.added, []byte{'}'}))
	}
	return append(dst, '}')
}
