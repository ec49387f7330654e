package catalog

import (
	"net/http"
	"strings"
	"sync/atomic"

	"drawbridge/openapi"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/typescript"
)

// Signature returns the call of a tool in the manner of TypeScript, in one line, as [typescript.Signature] has it. It is made at the first
// call, and kept.
//
//	getOrder(order_no: string, expand?: ("lines"|"customer")[]) → {order_no, status, lines[]}
//
// It says nothing that the published schemas don't say.
func (t *Tool) Signature() string {
	arguments := kept(&t.arguments, func() string { return t.argumentTypes("", 0) })
	return typescript.Signature(t.Name, arguments, kept(&t.answer, func() string { return t.answerMembers(0) }))
}

// maxAnswerShare is the part of a signature that its answer may have.
const maxAnswerShare = 4

// SignatureFor returns the signature of about length bytes for a query: arguments that the query names are first. It is longer if it takes
// more to name all arguments, and to give required ones their types.
func (t *Tool) SignatureFor(query string, length int) string {
	answer := kept(&t.answer, func() string { return t.answerMembers(0) })
	if most := length / maxAnswerShare; len(answer) > most {
		answer = t.answerMembers(max(most, 1))
	}
	return typescript.Signature(t.Name, t.argumentTypes(query, max(length-len(t.Name)-len(answer), 1)), answer)
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

// argumentTypes returns the arguments of the signature; length is that of [typescript.Options].
func (t *Tool) argumentTypes(query string, length int) string {
	input, _ := t.Published(openapi.ProfileFull)
	o := typescript.Options{Query: query, Reads: t.Annotations.ReadOnly, Shared: t.shared.has, Path: t.Path, NullIsAbsent: t.nullIsAbsent(), Length: length}
	if t.Operation != nil {
		o.Example = t.Operation.Example
	}
	return typescript.Arguments(jsonschema.Parse(input), o)
}

// nullIsAbsent reports whether null says the same as no value: the tool changes nothing that exists, where null may remove a value.
func (t *Tool) nullIsAbsent() bool {
	return t.Method != "" && (t.Annotations.ReadOnly || t.Method == http.MethodPost && !strings.HasSuffix(t.Path, "}"))
}

// answerMembers returns the answer of the signature as [typescript.Answer] does.
func (t *Tool) answerMembers(length int) string {
	_, output := t.Published(openapi.ProfileFull)
	if output == nil {
		return ""
	}
	return typescript.Answer(jsonschema.Parse(output), length)
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
