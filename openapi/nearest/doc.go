// Package nearest finds the name that was probably meant by an unknown one, for the words "did you mean" in messages.
//
// It depends on the standard library alone, so that every package may use it. The rule that must not be broken: what it returns is
// one of the names it was given, so that a caller who may not know a name is never told of it.
package nearest
