// Package jsonschema parses the JSON Schemas (2020-12) that drawbridge publishes into a tree with resolved references. All code that
// reads a published schema walks this tree. The schemas of OpenAPI documents are another tree, which package schema converts.
//
// It hides which keywords contain schemas, how references are written and resolved, and how compositions are combined:
// [Schema.Applied] walks over all schemas that apply to one value, [Schema.Members] returns the properties that these declare, and
// [Merge] merges allOf. There is one limit on depth, [MaxDepth]. A walk over the schemas of one value visits each schema once, so that
// circular schemas end.
//
// The one rule: the tree is a view of the text. It holds slices of it, and nothing that is written from the tree
// differs from the text by accident, such as the order of members or the digits of a number.
package jsonschema
