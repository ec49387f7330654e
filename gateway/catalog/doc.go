// Package catalog turns the operations of all APIs into the list of tools that clients see.
//
// It hides how tools are named so that a name never changes by accident, since clients and rules refer to it, how titles
// and descriptions are derived from a document, the annotations of a method, and the serialization
// of lists: everything is serialized once if possible, and a [Catalog.View] only joins the pieces
// for what a client understands and may see.
//
// A Catalog is immutable and safe for concurrent use.
//
// The one rule: everything follows from the operations and the options only. The order of APIs and
// operations has no effect. The options include the names that earlier catalogs published: an operation keeps its name when others come.
package catalog
