// Package jsonschema reads the JSON Schemas (2020-12) that drawbridge publishes: one parse makes a tree, and everything that
// looks into a schema is a walk over it.
//
// It hides which keywords hold schemas, how a reference is written and where it leads, and how the parts of a composition come
// together: the walk over all schemas of one value ([Schema.Applied]), the members that these declare ([Schema.Members]), and
// the merging of allOf ([Merge]). There is one limit on depth, [MaxDepth], and no walk of one value meets a schema twice, so
// that circular schemas end.
//
// The one rule: the tree is a view of the text. It holds slices of it, and nothing that is written from the tree
// differs from the text by accident, such as the order of members or the digits of a number.
package jsonschema
