// Package otherformat recognizes descriptions of APIs that are not OpenAPI documents, and says what to do with them. It hides by which
// members, lines or elements each format is known. The one rule: it names a format only if the text can be nothing else, because its
// message replaces a more general one.
package otherformat
