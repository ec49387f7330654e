package openapi

import (
	"encoding/json"
	"net/url"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
)

// Match reports whether an escaped path, below the base, is one of the operation's, and returns the arguments of which such a call
// is made, as far as path and query tell: all of them texts, or lists of texts. variables is how many variables the path has:
// of operations that match one path, the one with the fewest is meant (OAS 3.1.1 section 4.8.8.1, "Path Templating Matching"). It errs on the side
// of yes, as [wire.Template.Match] does; arguments that could not be read are missing.
func (o *Operation) Match(path string, query url.Values) (args json.RawMessage, variables int, ok bool) {
	values, ok := o.template.Match(path)
	if !ok {
		return nil, 0, false
	}
	args = json.RawMessage("{")
	add := func(name string, value []byte) {
		if len(args) > 1 {
			args = append(args, ',')
		}
		args = append(append(jsonscan.AppendString(args, name), ':'), value...)
	}
	for i, value := range values {
		if i < len(o.variables) && o.variables[i] >= 0 {
			add(o.arguments[o.variables[i]].name, jsonscan.AppendString(nil, value))
		}
	}
	var input *jsonschema.Schema // read when it is asked for
	for i := range o.arguments {
		a := &o.arguments[i]
		given := query[a.wire]
		if a.place != inQuery || len(given) == 0 {
			continue
		}
		if input == nil {
			input = o.inputSchema()
		}
		if len(given) == 1 && !isArray(input.Property(a.name)) {
			add(a.name, jsonscan.AppendString(nil, given[0]))
			continue
		}
		list := []byte{'['}
		for _, text := range given {
			if len(list) > 1 {
				list = append(list, ',')
			}
			list = jsonscan.AppendString(list, text)
		}
		add(a.name, append(list, ']'))
	}
	return append(args, '}'), len(o.template.Names()), true
}
