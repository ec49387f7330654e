package catalog

import (
	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/typescript"
)

// Signature returns the call of a tool in the manner of TypeScript, in one line, as [typescript.Signature] has it. Arguments that a
// query names are first; query may be "".
//
//	getOrder(order_no: string, expand?: ("lines"|"customer")[]) → {order_no, status, lines[]}
//
// It says nothing that the published schemas don't say.
func (t *Tool) Signature(query string) string {
	input, output := t.Published(openapi.ProfileFull)
	var answer *jsonschema.Schema
	if output != nil {
		answer = jsonschema.Parse(output)
	}
	return typescript.Signature(t.Name, jsonschema.Parse(input), answer, t.signatureOptions(query))
}

// signatureOptions returns how a signature of the tool orders its arguments.
func (t *Tool) signatureOptions(query string) typescript.Options {
	o := typescript.Options{Query: query, Reads: t.Annotations.ReadOnly, Shared: t.shared.has}
	if t.Operation != nil {
		o.Example = t.Operation.Example
	}
	return o
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
