// Package openapi hides the OpenAPI standard, 2.0 to 3.2: documents, operations and requests.
//
// Load reads a document and the files it refers to. Document.Compile turns each operation into an Operation, an
// immutable plan that holds all that is needed to call it: the JSON Schema of its arguments, escaped path literals, one
// encoder for each parameter, the encoder of its body, the plan of its answers. Operation.NewRequest checks
// arguments and builds the HTTP request in one step; Operation.Answers turns the answer into parts.
//
// Documents in the wild break the standard in most of the ways there are. A mistake with a clear meaning is repaired, with a
// Problem that names the place; any other removes the one operation it stands in, with a reason (Skipped). The
// validity report of the standard (Document.Report) is for people and never a gate.
//
// The one rule: nothing that depends on the document alone happens on a call, and nothing of the document is needed
// after Compile. An Operation keeps no node of the tree, and no string that is a slice of the source.
package openapi
