// Package httpmethod is the one table of what HTTP methods promise: whether a request changes nothing, and whether it
// makes no difference how often a service gets it. Annotations of tools, retries, consent and the coercion of arguments follow it.
//
// It depends on nothing, so that every package may use it.
package httpmethod
