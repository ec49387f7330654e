package openapi

import (
	"iter"
	"slices"

	"drawbridge/openapi/jsonschema"
)

// An Argument describes an argument of calls, for code that makes arguments from other values than a model's, such as the variables of a URI.
type Argument struct {
	Name     string // in Operation.Input
	In       string // where it goes: "path", "query", "header", "cookie" or "body"
	Required bool
	List     bool // its value is an array
}

// Arguments lists the arguments that callers can give. It is empty for an operation whose arguments as a whole are its body: they have no
// places of their own.
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

// ParameterNames yields the names of the arguments that are parameters. It omits those that are, or are in, the body.
func (o *Operation) ParameterNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range o.arguments {
			if a := &o.arguments[i]; a.place != inBody && a.place != inMember && !yield(a.name) {
				return
			}
		}
	}
}

// CurrentName returns the name of the argument that the previous release of the gateway called name; "" if it has the same name or there is
// none.
func (o *Operation) CurrentName(name string) string { return o.former[name] }

// isArray reports whether a schema, or the one that it refers to, is of arrays.
func isArray(s *jsonschema.Schema) bool { return slices.Contains(s.Resolve().Types(), "array") }

// inputSchema returns the parsed schema of the arguments. It is parsed with each call, so use one result for all that belongs together.
func (o *Operation) inputSchema() *jsonschema.Schema { return jsonschema.Parse(o.Input) }

// PathTemplate returns the path with argument names as its variables, as in "/orders/{id}". Everything else in it is escaped. It includes the
// query that some documents append to a path.
func (o *Operation) PathTemplate() string {
	path, err := o.template.Append(nil, func(i int, dst []byte) ([]byte, error) {
		name := o.template.Names()[i]
		if i < len(o.variables) && o.variables[i] >= 0 {
			name = o.arguments[o.variables[i]].name
		}
		return append(append(append(dst, '{'), name...), '}'), nil
	})
	if err != nil {
		return o.Path // not reached: a name in braces is no dot segment
	}
	if query := o.template.Query(); query != "" {
		return string(path) + "?" + query
	}
	return string(path)
}
