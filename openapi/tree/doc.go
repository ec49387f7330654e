// Package tree turns the bytes of an OpenAPI document into one ordered tree of
// raw values that the rest of the project can trust.
//
// It hides the two syntaxes (JSON and YAML), their limits against hostile
// input, text encodings, the files a document is split over, the resolution of
// references ($ref, $anchor, $id, $self, $dynamicRef) and the repair of the
// mistakes that half of the documents in the world have. Its nodes
// keep the author's order, the exact text of every number, and for every value
// the file, line and column that an editor can jump to.
//
// The one rule: after Load returns, nothing in a Set changes. Every method of
// Set and every reading method of Node is safe for concurrent use; whoever
// needs a changed value builds a new one with NewObject, Copy and their kin.
package tree
