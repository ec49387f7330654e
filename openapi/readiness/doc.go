// Package readiness scores how well a model can use the tools of an OpenAPI document, and writes the overlay that makes
// it better.
//
// It hides which properties of an operation are looked at, their weights (ADR 0067), and how a mended text or example is
// derived from the rest of the document or taken from the answer of a model. [Assess] reads the document as its author
// wrote it, so that each finding has a place, together with the tools that are made of it, so that nothing counts that
// no model reads. [Assessment.Fix] derives an overlay; [Assessment.Requests] and [Request.Drafts] make drafts by a model.
//
// The rule that must not be broken: nothing is invented. A change holds what the document says elsewhere, or a text or
// an example of a model that is marked as a draft; its target is computed from the document, never taken from an answer;
// and each change is kept only if a load of the document with it has proved it.
package readiness
