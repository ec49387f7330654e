package openapi

import (
	"bytes"
	"slices"
	"strings"

	"drawbridge/openapi/jsonscan"
)

// definitions are the $defs of a schema, of which some are made anew with a change: others may refer to the old ones for
// another object.
type definitions struct {
	root   []byte            // the schema
	suffix string            // of the names of new definitions
	made   map[string]string // new name of a definition by its old one; the old one if it needs no new one
	added  []byte            // members: the new definitions
}

func newDefinitions(root []byte, suffix string) definitions {
	return definitions{root: root, suffix: suffix, made: map[string]string{}}
}

// reference returns a reference to a definition as change returns it; ref itself if that changes nothing. It returns false
// if the reference leads elsewhere than to $defs, or if too many definitions were made anew.
func (d *definitions) reference(ref []byte, change func(definition []byte) []byte) (changed []byte, followed bool) {
	const defs = "#/$defs/"
	name, ok := strings.CutPrefix(string(jsonscan.Unquote(ref)), defs)
	if !ok {
		return ref, false
	}
	if made, known := d.made[name]; known {
		return jsonscan.AppendString(nil, defs+made), true
	}
	all := jsonscan.Lookup(d.root, "$defs")
	target := jsonscan.Lookup(all, name)
	switch {
	case target == nil:
		return ref, true
	case len(d.made) >= maxRelaxedDefs:
		return ref, false
	}
	made := name + d.suffix
	for jsonscan.Lookup(all, made) != nil {
		made += "_"
	}
	d.made[name] = made // what refers to itself finds the new one
	definition := change(target)
	if bytes.Equal(definition, target) {
		d.made[name] = name
		return ref, true
	}
	if len(d.added) > 0 {
		d.added = append(d.added, ',')
	}
	d.added = append(append(jsonscan.AppendString(d.added, made), ':'), definition...)
	return jsonscan.AppendString(nil, defs+made), true
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
		dst = appendMember(dst, string(name), value)
	}
	if !found {
		dst = appendMember(dst, "$defs", slices.Concat([]byte{'{'}, d.added, []byte{'}'}))
	}
	return append(dst, '}')
}

// mapElements returns an array with each element as edit returns it.
func mapElements(array []byte, edit func([]byte) []byte) []byte {
	dst := []byte{'['}
	for element := range jsonscan.Elements(array) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, edit(element)...)
	}
	return append(dst, ']')
}
