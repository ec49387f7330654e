package openapi

import (
	"strings"

	"drawbridge/openapi/jsonscan"
)

// ArgumentError lists all faults of the arguments of a call. Its ToolMessage is addressed to the model that chose them.
type ArgumentError struct {
	Faults []Fault // at least one

	operation *Operation
	args      []byte                 // of the call
	accepts   func(args []byte) bool // reports whether a call with these arguments is sent, for the example in the text
}

// A Fault is one fault of the arguments.
type Fault struct {
	Pointer string // RFC 6901 pointer into the arguments; "" for the arguments as a whole
	Message string // "expected integer, got string \"x\""

	violation // of the schema, if it is one
}

// Error implements error: the faults on one line.
func (e *ArgumentError) Error() string {
	var b strings.Builder
	b.WriteString("arguments: ")
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteString("; ")
		}
		f.append(&b)
	}
	return b.String()
}

func (f Fault) append(b *strings.Builder) {
	if f.Pointer != "" {
		b.WriteString(f.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
}

// ToolMessage returns the text for the model: every fault with its JSON pointer, then the arguments that the operation
// takes.
func (e *ArgumentError) ToolMessage() string {
	var b strings.Builder
	b.WriteString("The arguments are not valid; nothing was sent. Correct them and call again.\n")
	for _, f := range e.Faults {
		b.WriteString("- ")
		f.append(&b)
		b.WriteByte('\n')
	}
	if e.operation != nil {
		e.operation.appendArguments(&b, e.args, e.Faults, e.accepts)
	}
	return b.String()
}

// BaseError means that a call can't be made because its base URL is not known.
type BaseError struct {
	Problem string // for the operator: the setting to configure
}

// Error implements error.
func (e *BaseError) Error() string { return e.Problem }

// ToolMessage returns the text for the model, which contains none of the document's addresses (P7).
func (e *BaseError) ToolMessage() string {
	return "This operation can't be called yet: the operator of the gateway has to set base_url for its API."
}

// topLevel returns the name of the argument that a pointer refers to, unless it refers to a part of one.
func topLevel(pointer string) (name string, ok bool) {
	name, ok = strings.CutPrefix(pointer, "/")
	return jsonscan.UnescapeToken(name), ok && !strings.Contains(name, "/")
}
