// Package jsonpath selects nodes of a document by JSONPath queries (RFC 9535).
//
// It hides the syntax, the rules of types, the five functions of the standard, and regular expressions as RFC 9485 defines
// them. [Parse] checks a query; [Query.Select] returns the nodes themselves, in the order of the document, so that they can be
// changed and their positions be named.
//
// The rule that must not be broken: queries come from strangers. Length and depth are bounded before anything recurses, and
// each node that is visited, each text that is read or compared and each regular expression that is compiled or run is charged
// to a [Work], which can end it. Nothing is handed to code that can't be stopped unless its cost was charged before.
package jsonpath
