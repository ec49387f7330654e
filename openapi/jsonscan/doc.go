// Package jsonscan reads JSON texts in place: it validates them in one pass and returns slices of them, so that values
// can be passed on byte for byte.
//
// It hides the grammar of RFC 8259, the search for duplicate member names, and the loops that make scanning and
// escaping cheap: by blocks of sixteen bytes on amd64 (vector_amd64.s), by words of eight elsewhere and with the build
// tag purego. It never decodes a number and never builds a tree.
//
// The rule that must not be broken: every function but [Scan] trusts its input. Call them only on text that Scan has
// accepted; on other text their results are undefined, but they never read outside the slice.
package jsonscan
