package openapi

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/schema"
)

// A Declared argument is one that the input schema of an operation names.
type Declared struct {
	Name string
	// Schema is as it stands in Operation.Input, into whose $defs it may refer.
	Schema   json.RawMessage
	Required bool // by every call
}

// Declares returns the arguments that the input schema names, in the author's order. It reads the schema each time, so keep
// what you make of it.
func (o *Operation) Declares() []Declared {
	declared := published{o.Input, o.Input}.arguments()
	all := make([]Declared, len(declared))
	for i, d := range declared {
		all[i] = Declared{Name: d.name, Schema: d.schema.schema, Required: d.required}
	}
	return all
}

// Variant returns the operation as callers see it if some arguments come from elsewhere: callers may leave out those in optional, whose
// descriptions get the note, and can't give those in withheld. Input, Published and Check are those of the variant; the original builds
// the request, from all arguments, and checks them as usual.
//
// Parts of a schema that concern several arguments can't be checked while one of them is missing, so these are left out.
func (o *Operation) Variant(optional, withheld []string, note string) *Operation {
	r := relaxer{definitions: newDefinitions(o.Input, "_asked"), withheld: withheld, note: note, names: slices.Concat(optional, withheld)}
	variant := *o
	variant.Input = r.input()
	variant.withheld = slices.Concat(o.withheld, withheld)
	if variant.Example != nil {
		variant.Example = without(o.Example, withheld)
		variant.ExampleInvented = slices.DeleteFunc(slices.Clone(o.ExampleInvented), func(name string) bool { return slices.Contains(withheld, name) })
	}
	variant.showLike(o, 0)
	variant.validator = sync.OnceValues(func() (*schema.Validator, error) { return schema.Compile(variant.Input) })
	return &variant
}

// without returns an object without some of its members.
func without(object []byte, names []string) []byte {
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		if !slices.Contains(names, string(name)) {
			dst = appendMember(dst, string(name), value)
		}
	}
	return append(dst, '}')
}

// appendMember appends a member to an object that is open.
func appendMember(dst []byte, name string, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(jsonscan.AppendString(dst, name), ':'), value...)
}

// maxRelaxed is how deep the composition of an input schema is followed, and maxRelaxedDefs how many of its definitions
// are made anew. Deeper schemas stay as they are, and may then require arguments that are filled in by others.
const (
	maxRelaxed     = 8
	maxRelaxedDefs = 64
)

// A relaxer takes demands for arguments out of an input schema, where they are demands of the object of all arguments.
type relaxer struct {
	definitions
	names    []string // which nobody has to give
	withheld []string // of them, those that nobody can give
	note     string   // what is said of the others
}

// input returns the new input schema.
func (r *relaxer) input() []byte {
	return r.addTo(r.schema(r.root, 0))
}

// schema returns a schema of the object of all arguments without the demands; text itself if it has none.
func (r *relaxer) schema(text []byte, depth int) []byte {
	if jsonscan.KindOf(text) != jsonscan.Object || depth > maxRelaxed {
		return text
	}
	conditional := r.conditional(text, depth)
	dst := []byte{'{'}
	for key, value := range jsonscan.Members(text) {
		name := string(key)
		switch name {
		case "required":
			if value = r.required(value); value == nil {
				continue
			}
		case "properties":
			value = r.properties(value)
		case "minProperties":
			n, err := strconv.Atoi(string(value))
			if err != nil || n <= len(r.names) {
				continue
			}
			value = strconv.AppendInt(nil, int64(n-len(r.names)), 10)
		case "dependentRequired":
			value = r.dependentRequired(value)
		case "dependentSchemas":
			if relaxed := r.members(value, depth); !bytes.Equal(relaxed, value) {
				continue
			}
		case "allOf":
			value = r.elements(value, depth)
		case "anyOf", "oneOf":
			relaxed := r.elements(value, depth)
			if !bytes.Equal(relaxed, value) && name == "oneOf" { // more than one may fit now
				if name = "anyOf"; jsonscan.Lookup(text, name) != nil {
					continue
				}
			}
			value = relaxed
		case "if", "then", "else":
			if conditional {
				continue
			}
		case "not":
			if !bytes.Equal(r.schema(value, depth+1), value) {
				continue
			}
		case "$ref":
			value = r.reference(value, depth)
		}
		dst = appendMember(dst, name, value)
	}
	if dst = append(dst, '}'); bytes.Equal(dst, text) {
		return text
	}
	return dst
}

// properties returns the declared arguments without those that nobody can give, and with the note.
func (r *relaxer) properties(object []byte) []byte {
	dst := []byte{'{'}
	for key, value := range jsonscan.Members(object) {
		name := string(key)
		switch {
		case slices.Contains(r.withheld, name):
			continue
		case slices.Contains(r.names, name) && r.note != "" && jsonscan.KindOf(value) == jsonscan.Object:
			value = noted(value, r.note)
		}
		dst = appendMember(dst, name, value)
	}
	return append(dst, '}')
}

// noted returns a schema with a sentence at the end of its description.
func noted(text []byte, note string) []byte {
	dst, found := []byte{'{'}, false
	for key, value := range jsonscan.Members(text) {
		if string(key) == "description" && jsonscan.KindOf(value) == jsonscan.String {
			value, found = jsonscan.AppendString(nil, string(jsonscan.Unquote(value))+"\n\n"+note), true
		}
		dst = appendMember(dst, string(key), value)
	}
	if !found {
		dst = appendMember(dst, "description", jsonscan.AppendString(nil, note))
	}
	return append(dst, '}')
}

// conditional tells whether a condition, or what follows from it, is about what may be missing.
func (r *relaxer) conditional(text []byte, depth int) bool {
	for _, key := range []string{"if", "then", "else"} {
		part := jsonscan.Lookup(text, key)
		if part == nil {
			continue
		}
		if !bytes.Equal(r.schema(part, depth+1), part) {
			return true
		}
		for name := range jsonscan.Members(jsonscan.Lookup(part, "properties")) {
			if key == "if" && slices.Contains(r.names, string(name)) {
				return true
			}
		}
	}
	return false
}

// required returns a list of names without those that nobody has to give, nil if none is left.
func (r *relaxer) required(list []byte) []byte {
	dst := []byte{'['}
	for item := range jsonscan.Elements(list) {
		if slices.Contains(r.names, string(jsonscan.Unquote(item))) {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(dst, item...)
	}
	if len(dst) == 1 {
		return nil
	}
	return append(dst, ']')
}

func (r *relaxer) dependentRequired(object []byte) []byte {
	dst := []byte{'{'}
	for name, list := range jsonscan.Members(object) {
		if list = r.required(list); list != nil {
			dst = appendMember(dst, string(name), list)
		}
	}
	return append(dst, '}')
}

func (r *relaxer) members(object []byte, depth int) []byte {
	dst := []byte{'{'}
	for name, value := range jsonscan.Members(object) {
		dst = appendMember(dst, string(name), r.schema(value, depth+1))
	}
	return append(dst, '}')
}

func (r *relaxer) elements(list []byte, depth int) []byte {
	return mapElements(list, func(item []byte) []byte { return r.schema(item, depth+1) })
}

// reference returns a reference to the definition without the demands.
func (r *relaxer) reference(ref []byte, depth int) []byte {
	relaxed, _ := r.definitions.reference(ref, func(definition []byte) []byte { return r.schema(definition, depth+1) })
	return relaxed
}
