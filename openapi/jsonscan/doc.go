// Package jsonscan reads JSON texts in place: it checks them in one pass and hands out slices of them,
// so that what came in can go out byte for byte.
//
// It hides the grammar of RFC 8259, the search for duplicate member names, and the word-at-a-time loops
// that make scanning and escaping cheap. It never decodes a number and never builds a tree.
//
// The one rule: every function but [Scan] trusts its input. Call them only on text that Scan has accepted;
// on other text they return something useless, but never read outside the slice.
package jsonscan
