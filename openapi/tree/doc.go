// Package tree parses the bytes of an OpenAPI document into one ordered tree of raw values that the rest of the project
// can rely on.
//
// It hides the two syntaxes (JSON and YAML), their limits against hostile input, text encodings, the files that a
// document is split into, the resolution of references ($ref, $anchor, $id, $self, $dynamicRef) and the repair of
// mistakes that half of all published documents contain. Its nodes keep the author's order, the exact text of every
// number, and for every value the file, line and column.
//
// The rule that must not be broken: after Load returns, nothing in a Set changes. Every method of Set and every reading
// method of Node is safe for concurrent use; code that needs a changed value builds a new one with NewObject, Copy and
// the related functions.
package tree
