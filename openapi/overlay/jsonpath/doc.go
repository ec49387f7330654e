// Package jsonpath selects nodes of a document by JSONPath queries (RFC 9535).
//
// It hides the syntax, the type rules, the five functions of the standard, and regular expressions as RFC 9485 defines
// them. [Parse] checks a query; [Query.Select] returns the nodes themselves, in the order of the document, so that
// callers can change them and report their positions.
//
// The rule that must not be broken: queries are untrusted. Length and depth are limited before anything recurses, and
// each node that is visited, each text that is read or compared and each regular expression that is compiled or run is
// charged to a [Work], which can end the selection. Code that can't be stopped is only called after its cost was
// charged.
package jsonpath
