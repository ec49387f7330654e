// Package truncate shortens texts from documents, services and clients before they stand in messages, logs and pages.
//
// It depends on the standard library alone, so that every package may use it. The rule that must not be broken: a result is never longer
// than its limit, the ellipsis included, and no character is cut apart.
package truncate
