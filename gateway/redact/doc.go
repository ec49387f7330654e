// Package redact takes out of what a service says when it refuses a call what is not for its caller: secrets of every known form,
// where the service stands, and how it is made inside (P7).
//
// It hides the patterns, and how the words are told from what stands beside them: what a model needs to make a better call must
// stay, and that is nearly all of an error. The patterns are expressions of Go's regexp, so a text takes time in proportion to its
// length, whatever is in it; it is for the caller to bound that.
//
// The one rule: what is found goes, and what is not known stays. It is a net, not a wall: the gateway's own secrets are found by
// their values, elsewhere.
package redact
