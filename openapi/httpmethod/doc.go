// Package httpmethod is the only table of the semantics of HTTP methods: whether a request is safe, and whether it is
// idempotent. Annotations of tools, retries, consent and the coercion of arguments depend on it.
//
// It has no dependencies, so that every package may use it.
package httpmethod
