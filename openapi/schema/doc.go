// Package schema turns the schemas of OpenAPI documents into JSON Schema 2020-12, and checks values against the result.
//
// It hides the dialects (Swagger 2.0, OpenAPI 3.0, 3.1 and 3.2, and what documents in the wild make of them), the
// collection of everything a schema refers to under "$defs", the limits on the size of what a model has to read, the
// cleaning of texts that come from untrusted documents, and the JSON Schema library.
//
// A [Converter] belongs to one document. It emits bytes straight from the raw tree, so members keep the author's order
// and numbers keep every digit. Each schema is converted once and kept as a fragment with holes where it refers
// to others; a tool's schema is assembled from fragments, so nothing is ever inlined without bound.
//
//	input_schema.go, output_schema.go   the schemas of a tool
//	emitter.go, *_keywords.go           conversion of one schema, keyword by keyword; schema_facts.go looks ahead
//	fragment.go, assemble.go            converted schemas, and how a tool's schema is put together within the size limit
//	discriminator*.go, union_overlap.go anyOf, oneOf, discriminators; hierarchy.go finds alternatives by allOf
//	profile_*.go, outline*.go           published profiles: compatible and portable
//	validate.go, quick_*.go, fault*.go  checking of values, and its faults in words
//	example*.go                         examples of values
//	html.go, text.go, source_comment.go cleaning of texts
//
// The one rule: what the converter emits is valid under the meta-schema of JSON Schema 2020-12 and compiles in any
// validator of it, whatever the document holds. A keyword that would break this is left out with a warning. The bytes
// that are emitted are the bytes that arguments are checked against.
package schema
