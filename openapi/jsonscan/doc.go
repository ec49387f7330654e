// Package jsonscan reads JSON texts in place: it checks them in one pass and hands out slices of them,
// so that what came in can go out byte for byte.
//
// It hides the grammar of RFC 8259, the search for duplicate member names, and the loops that make scanning and
// escaping cheap: by blocks of sixteen bytes on amd64 (vector_amd64.s), by words of eight elsewhere and with the
// build tag purego. It never decodes a number and never builds a tree.
//
// The one rule: every function but [Scan] trusts its input. Call them only on text that Scan has accepted;
// on other text they return something useless, but never read outside the slice.
package jsonscan
