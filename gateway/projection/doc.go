// Package projection reduces the JSON answer of a service to the part that a model needs: by an expression of the operator in
// jq ([Program]), by a list of fields that the model gives ([FieldList]), and by limits on arrays and tokens ([Limits]).
//
// It hides the grammar of field lists, the subset of jq that can be evaluated without surprises, the work that an expression
// may cause, what becomes of the document's answer schema, and how a JSON text is cut so that it stays valid. It knows JSON,
// schemas and jq, and nothing of MCP, calls or configuration.
//
// Field lists and limits copy tokens of the answer: numbers keep their digits and members their order. jq keeps the digits of
// numbers that are selected; [Compiler.Compile] refuses expressions that calculate with numbers, because jq does so in binary floating
// point.
//
// The rule that must not be broken: nothing is left out without a note that says so, and an answer that can't be projected is never sent as it is.
package projection
