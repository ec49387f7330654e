// Package charset turns texts in the charsets of the web into UTF-8.
//
// It hides which charsets there are, their names, and where XML and HTML declare theirs.
//
// The rule that must not be broken: the result is valid UTF-8, and no byte goes without a trace, whatever the label says.
package charset
