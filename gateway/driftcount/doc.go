// Package driftcount counts the differences between APIs and their documents: arguments that are refused because the document declares
// something else, and answers that the document does not declare.
//
// It hides how little memory that takes, whatever callers and services send: [MaxDifferences] of each API are counted one by one, all
// further ones together. The counts are those of one process, since it has started or the document has changed: a mended document begins
// with none, and a reload that changes nothing keeps them.
//
// The one rule: nothing is kept that only a caller or a service has given, except statuses and media types; see package openapi/drift.
package driftcount
