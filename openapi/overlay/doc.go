// Package overlay applies OpenAPI overlays (Overlay Specification 1.0 and 1.1) to a document.
//
// It hides the form of an overlay, and how values are merged into those that a query (package jsonpath) selects. [Apply] works on
// the raw root file of a document, before references are followed and values are repaired, so that an overlay sees what the
// author of the document has written.
//
// The rule that must not be broken: an overlay is applied as a whole or not at all. Whatever can't be done ends the load,
// since an overlay may be what hides an operation; and whatever an overlay or a document holds, the work is bounded.
package overlay
