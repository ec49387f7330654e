// Package proof proves overlays that are derived for a document, by loading the document with them.
//
// It hides how a failure is attributed to one change of the overlay, and the rounds in which the others are tried again without it. The
// criterion is the compiled document itself, so there is no second validator of documents (ADR 0067).
//
// The one rule: a change is kept only if the document loads with it, it selects something, it adds no problem, and the [Judge] accepts it.
package proof
