package openapi

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
)

// A Declared argument is one that the input schema of an operation names.
type Declared struct {
	Name     string
	Schema   *jsonschema.Schema // in Operation.Input
	Required bool               // by every call
}

// Declares returns the arguments that the input schema names, in the author's order. It reads the schema each time, so keep
// what you make of it.
func (o *Operation) Declares() []Declared {
	members := o.inputSchema().Members()
	all := make([]Declared, len(members))
	for i, m := range members {
		all[i] = Declared(m)
	}
	return all
}

// Variant returns the operation as callers see it if some arguments come from elsewhere: callers may leave out those in optional, whose
// descriptions get the note, and can't give those in withheld. Input, Published and Check are those of the variant; the original builds
// the request, from all arguments, and checks them as usual.
//
// Parts of a schema that concern several arguments can't be checked while one of them is missing, so these are left out.
func (o *Operation) Variant(optional, withheld []string, note string) *Operation {
	r := relaxer{definitions: newDefinitions(o.inputSchema(), "_asked"), withheld: withheld, note: note, names: slices.Concat(optional, withheld)}
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
			dst = jsonscan.AppendMember(dst, string(name), value)
		}
	}
	return append(dst, '}')
}

// maxRelaxedDefs is how many definitions of an input schema are made again. Others, and schemas below [jsonschema.MaxDepth], stay as they are, and
// may then require arguments that are filled in by others.
const maxRelaxedDefs = 64

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

// schema returns a schema of the object of all arguments without the demands; its text if it has none.
func (r *relaxer) schema(s *jsonschema.Schema, depth int) []byte {
	text := s.Source()
	if !s.IsObject() || depth > jsonschema.MaxDepth {
		return text
	}
	conditional := r.conditional(s, depth)
	part := func(dst []byte, p jsonschema.Part) []byte { return append(dst, r.schema(p.Schema, depth+1)...) }
	dst := []byte{'{'}
	for _, k := range s.Keywords() {
		name, value := k.Name, k.Value
		switch name {
		case "required":
			if value = r.required(value); value == nil {
				continue
			}
		case "properties":
			value = r.properties(k.Parts)
		case "minProperties":
			n, err := strconv.Atoi(string(value))
			if err != nil || n <= len(r.names) {
				continue
			}
			value = strconv.AppendInt(nil, int64(n-len(r.names)), 10)
		case "dependentRequired":
			value = r.dependentRequired(value)
		case "dependentSchemas":
			if relaxed := k.AppendWith(nil, part); !bytes.Equal(relaxed, value) {
				continue
			}
		case "allOf":
			value = k.AppendWith(nil, part)
		case "anyOf", "oneOf":
			relaxed := k.AppendWith(nil, part)
			if !bytes.Equal(relaxed, value) && name == "oneOf" { // more than one may fit now
				if name = "anyOf"; s.Has(name) {
					continue
				}
			}
			value = relaxed
		case "if", "then", "else":
			if conditional {
				continue
			}
		case "not":
			if !bytes.Equal(k.AppendWith(nil, part), value) {
				continue
			}
		case "$ref":
			value, _ = r.reference(s, func(definition *jsonschema.Schema) []byte { return r.schema(definition, depth+1) })
		}
		dst = jsonscan.AppendMember(dst, name, value)
	}
	if dst = append(dst, '}'); bytes.Equal(dst, text) {
		return text
	}
	return dst
}

// properties returns the declared arguments without those that nobody can give, and with the note.
func (r *relaxer) properties(parts []jsonschema.Part) []byte {
	dst := []byte{'{'}
	for _, p := range parts {
		value := p.Schema.Source()
		switch {
		case slices.Contains(r.withheld, p.Name):
			continue
		case slices.Contains(r.names, p.Name) && r.note != "" && p.Schema.IsObject():
			value = noted(p.Schema, r.note)
		}
		dst = jsonscan.AppendMember(dst, p.Name, value)
	}
	return append(dst, '}')
}

// noted returns a schema with a sentence at the end of its description.
func noted(s *jsonschema.Schema, note string) []byte {
	dst, found := []byte{'{'}, false
	for _, k := range s.Keywords() {
		value := k.Value
		if k.Name == "description" && jsonscan.KindOf(value) == jsonscan.String {
			value, found = jsonscan.AppendString(nil, k.Text()+"\n\n"+note), true
		}
		dst = jsonscan.AppendMember(dst, k.Name, value)
	}
	if !found {
		dst = jsonscan.AppendMember(dst, "description", jsonscan.AppendString(nil, note))
	}
	return append(dst, '}')
}

// conditional reports whether a condition, or what follows from it, is about what may be missing.
func (r *relaxer) conditional(s *jsonschema.Schema, depth int) bool {
	for _, key := range []string{"if", "then", "else"} {
		part := s.Schema(key)
		if part == nil {
			continue
		}
		if !bytes.Equal(r.schema(part, depth+1), part.Source()) {
			return true
		}
		for _, p := range part.Parts("properties") {
			if key == "if" && slices.Contains(r.names, p.Name) {
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
			dst = jsonscan.AppendMember(dst, string(name), list)
		}
	}
	return append(dst, '}')
}
