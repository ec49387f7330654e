// Package otherformat recognizes descriptions of APIs that are not OpenAPI documents, and gives advice on each format.
// It hides the members, lines or elements that identify a format. The rule that must not be broken: it names a format
// only if the text can be nothing else, because its message replaces a more general one.
package otherformat
