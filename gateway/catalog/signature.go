package catalog

import (
	"sync/atomic"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/typescript"
)

// Signature returns the call of a tool in the manner of TypeScript, in one line, as [typescript.Signature] has it. Arguments that a
// query names are first; query may be "". What doesn't depend on the query is made at the first call, and kept: it is short, and a search
// needs the signature of each hit.
//
//	getOrder(order_no: string, expand?: ("lines"|"customer")[]) → {order_no, status, lines[]}
//
// It says nothing that the published schemas don't say.
func (t *Tool) Signature(query string) string {
	var arguments string
	if query == "" {
		arguments = kept(&t.arguments, func() string { return t.argumentTypes("") })
	} else {
		arguments = t.argumentTypes(query)
	}
	return typescript.Signature(t.Name, arguments, kept(&t.answer, t.answerMembers))
}

// kept returns the text in a place, which is made if there is none. It may be made twice at the same time.
func kept(place *atomic.Pointer[string], text func() string) string {
	if known := place.Load(); known != nil {
		return *known
	}
	made := text()
	place.Store(&made)
	return made
}

// argumentTypes returns the arguments of the signature.
func (t *Tool) argumentTypes(query string) string {
	input, _ := t.Published(openapi.ProfileFull)
	o := typescript.Options{Query: query, Reads: t.Annotations.ReadOnly, Shared: t.shared.has}
	if t.Operation != nil {
		o.Example = t.Operation.Example
	}
	return typescript.Arguments(jsonschema.Parse(input), o)
}

// answerMembers returns the answer of the signature; "" if nothing is known of it.
func (t *Tool) answerMembers() string {
	_, output := t.Published(openapi.ProfileFull)
	if output == nil {
		return ""
	}
	return typescript.Answer(jsonschema.Parse(output))
}

// Function returns the tool as [typescript.Declare] takes it.
func (t *Tool) Function() typescript.Function {
	input, output := t.Published(openapi.ProfileFull)
	f := typescript.Function{Name: t.Name, Comment: t.Description, Input: jsonschema.Parse(input)}
	if t.Annotations.ReadOnly {
		f.Comment = "read-only: " + f.Comment
	}
	if output != nil {
		f.Output = jsonschema.Parse(output)
	}
	return f
}
