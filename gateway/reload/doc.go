// Package reload decides which configuration is served, and from which documents. It hides how a new configuration
// replaces the one in use: its documents are read first, and then everything of it comes into use at once; how documents
// that sources load come into use; what is quarantined, rejected, or held until an operator accepts it.
//
// The rule that must not be broken: one goroutine, that of [Runner.Run], is the single writer. It alone decides what is
// served, and a step of it that panics leaves what is served as it is.
package reload
