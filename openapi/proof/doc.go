// Package proof proves overlays that are derived for a document, by loading the document with them.
//
// It hides how a failure is found to be that of one change, and that the others are tried again without it. The compiled operations are
// the judge, so there is no second validator of documents (ADR 0067).
//
// The one rule: a change is kept only if the document loads with it, it selects something, it adds no problem, and the [Judge] accepts it.
package proof
