package openapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/url"
	"slices"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/wire"
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

// introduce makes the operations of an API known to those that have to leave the paths of others alone.
func (api *API) introduce() {
	for _, o := range api.Operations {
		for _, place := range o.variables {
			if place >= 0 && (o.arguments[place].encoder.Spans() || o.arguments[place].encoder.InfersSlashes()) {
				o.siblings = api.Operations
			}
		}
	}
}

// claimed returns the place of an argument whose slashes make an escaped path, below the base, that of another operation; -1 if there is
// none. Services would take the request for that one's, which may be excluded, need other scopes or consent. Slashes that are sent as they
// are must not lead to a more specific operation with the same method (ADR 0055). Slashes that are sent as "%2F" by inference must not lead
// to any operation of the document, or below one of those that the operation is apart from, if they are decoded on their way (ADR 0069).
func (o *Operation) claimed(path []byte, values [][]byte) (place int) {
	for _, v := range o.variables {
		if v < 0 {
			continue
		}
		switch a := &o.arguments[v]; { // a slash may be written as an escape of JSON
		case a.encoder.Spans() && bytes.ContainsAny(values[v], `/\`) && o.template.Claimed(string(path), o.others(func(other *Operation) bool { return other.Method == o.Method })):
			return v
		case a.encoder.InfersSlashes() && bytes.Contains(path, []byte("%2F")):
			if wire.Unfolded(string(path), o.others(nil), false) || o.apart != nil && wire.Unfolded(string(path), o.others(o.apart), true) {
				return v
			}
		}
	}
	return -1
}

// others are the templates of the operations with the same base of which is reports true; of all if it is nil.
func (o *Operation) others(is func(*Operation) bool) iter.Seq[*wire.Template] {
	return func(yield func(*wire.Template) bool) {
		for _, other := range o.siblings {
			if sameBase(o.Base, other.Base) && (is == nil || is(other)) && !yield(other.template) {
				return
			}
		}
	}
}

// InfersSlashes reports whether values with slashes are sent because a parameter seems to be a path, and not because the document or the
// operator allows them.
func (o *Operation) InfersSlashes() bool {
	return slices.ContainsFunc(o.arguments, func(a argument) bool { return a.encoder.InfersSlashes() })
}

// Apart returns the operation with the limit that slashes in values that only seem to be paths don't lead to or below the paths of
// the operations of the document that from reports, also where they are decoded on their way.
func (o *Operation) Apart(from func(*Operation) bool) *Operation {
	apart := *o
	apart.apart = from
	return &apart
}

// sameBase reports whether two operations have one base.
func sameBase(a, b *url.URL) bool {
	return a == b || a != nil && b != nil && *a == *b
}
