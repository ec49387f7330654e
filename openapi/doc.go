// Package openapi hides the OpenAPI standard, 2.0 to 3.2: documents, operations and requests.
//
// Load reads a document and the files it refers to. Document.Compile turns each operation into an Operation, an
// immutable plan that holds everything that a call needs: the JSON Schema of its arguments, escaped path literals, one
// encoder for each parameter, the encoder of its body, the plan of its responses. Operation.NewRequest checks arguments
// and builds the HTTP request in one step; Operation.Answers turns the response into parts.
//
// Published documents violate the standard in most possible ways. A mistake with a clear meaning is repaired, with a
// Problem that names its position; any other removes only the operation that contains it, with a reason (Skipped). The
// validity report of the standard (Document.Report) is advice and never affects what is served.
//
// An argument is what a caller gives: a parameter, a member of the body, or the body as a whole. Its place is where it
// goes in the request ([Argument].In). Arguments can be withheld from callers, hidden or renamed by the configuration
// (Variant, Curate). Codes such as S4 in comments are requirements of docs/security.md.
//
// The rule that must not be broken: nothing that depends on the document alone happens during a call, and nothing of
// the document is needed after Compile. An Operation keeps no node of the tree, and no string that is a slice of the
// source.
package openapi
