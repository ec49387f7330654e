// Package overlay applies OpenAPI overlays (Overlay Specification 1.0 and 1.1) to a document.
//
// It hides the form of an overlay, and how values are merged into those that a query (package jsonpath) selects.
// [Apply] works on the raw root file of a document, before references are followed and values are repaired, so that an
// overlay sees the document as its author wrote it.
//
// The rule that must not be broken: an overlay is applied as a whole or not at all. Any failure ends the load, since
// the overlay may be the one that hides an operation; and for any overlay and document, the work is limited.
package overlay
