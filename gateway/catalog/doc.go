// Package catalog turns the operations of all APIs into the list of tools that clients see.
//
// It hides how tools are named so that a name never changes by accident (decision D11), how titles and descriptions are
// made of what a document says, what the annotations of a method are, and how the list is kept in bytes: what can be
// serialized once is, and a [Catalog.View] only puts the pieces together for what a client understands and may see.
//
// A Catalog is immutable and safe for concurrent use.
//
// The one rule: everything follows from the operations and the options alone. The order of APIs and operations, and what
// was served before, change nothing.
package catalog
