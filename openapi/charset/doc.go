// Package charset turns texts in the charsets of the web into UTF-8, and texts in UTF-8 into those of the IANA registry.
//
// It hides which charsets there are, their names, and where XML and HTML declare theirs.
//
// The rule that must not be broken: what is read is valid UTF-8, and no byte goes without a trace, whatever the label says; what is
// written is read as the same text.
package charset
