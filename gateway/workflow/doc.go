// Package workflow serves the workflows of Arazzo descriptions as tools, one call of which makes several calls of operations.
//
// It hides how the steps of a description are bound to operations, what of their expressions and criteria is proved against the documents
// before anything runs, and how a run goes from step to step. [Compiler.Compile] does the first two when documents are loaded; a [Tool]
// is immutable and runs for each of its calls.
//
// The rule that must not be broken: a step is a call by [call.Call.Step], with the rights, limits, consent and audit record that a call of
// its tool has, so that a workflow gives its caller nothing that the tools of its steps would not give.
package workflow
