// Package drift describes how the calls and answers of an operation differ from its OpenAPI document.
//
// It hides how a place in a value becomes a pattern: the names that the document declares stay, and the index of an element and each name
// that the document does not declare become "*". So there are few patterns, however many values there are.
//
// The one rule: a [Difference] holds names and types, never a value, nor a name that only a caller or a service has given.
package drift
