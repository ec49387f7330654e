// Package report tells operators what became of each operation of an API's document, and how its tools can be reached: the
// load report, the counts in the status, and the access requirements of a tool with the settings that decide them.
//
// The rule that must not be broken: a report changes nothing, and no secret of the configuration or of a document's location
// is in it.
package report
