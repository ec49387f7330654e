package openapi

import (
	"iter"
	"slices"

	"drawbridge/openapi/jsonschema"
)

// An Argument is one of a call, for who makes arguments of something else than what a model writes.
type Argument struct {
	Name     string // in Operation.Input
	In       string // where it goes: "path", "query", "header", "cookie" or "body"
	Required bool
	List     bool // its value is an array
}

// Arguments lists the arguments that callers can give by their places in the request. An operation whose body is made of all of them has
// none here.
func (o *Operation) Arguments() []Argument {
	all := make([]Argument, 0, len(o.arguments))
	input := o.inputSchema()
	for _, a := range o.arguments {
		if slices.Contains(o.withheld, a.name) || slices.Contains(o.hidden, a.name) {
			continue
		}
		required := a.required && !slices.Contains(o.optional, a.name)
		all = append(all, Argument{Name: a.name, In: a.place.String(), Required: required, List: isArray(input.Property(a.name))})
	}
	return all
}

// ParameterNames yields the names of the arguments that are parameters, those in bodies left aside.
func (o *Operation) ParameterNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range o.arguments {
			if a := &o.arguments[i]; a.place != inBody && a.place != inMember && !yield(a.name) {
				return
			}
		}
	}
}

// CurrentName returns the name of the argument that the previous release named name, "" if its name is the same or there is none.
func (o *Operation) CurrentName(name string) string { return o.former[name] }

// isArray reports whether a schema, or the one that it refers to, is of arrays.
func isArray(s *jsonschema.Schema) bool { return slices.Contains(s.Resolve().Types(), "array") }

// inputSchema returns the parsed schema of the arguments. It is read each time, so keep it for what belongs together.
func (o *Operation) inputSchema() *jsonschema.Schema { return jsonschema.Parse(o.Input) }

// PathTemplate returns the path with the names of the arguments that its variables stand for: "/orders/{id}", escaped but for
// these, and with the query that some documents put behind it.
func (o *Operation) PathTemplate() string {
	path, err := o.template.Append(nil, func(i int, dst []byte) ([]byte, error) {
		name := o.template.Names()[i]
		if i < len(o.variables) && o.variables[i] >= 0 {
			name = o.arguments[o.variables[i]].name
		}
		return append(append(append(dst, '{'), name...), '}'), nil
	})
	if err != nil {
		return o.Path // no name makes a dot segment in braces
	}
	if query := o.template.Query(); query != "" {
		return string(path) + "?" + query
	}
	return string(path)
}
