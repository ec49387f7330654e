// Package redact takes out of the answers of a service what is not for its caller: the gateway's own credentials, which some services
// repeat; sensitive fields; and, in errors, secrets of every known form, addresses and stacks (P7).
//
// It hides the patterns, and how the words are told from what stands beside them: what a model needs to make a better call must
// stay, and that is nearly all of an error. The patterns are expressions of Go's regexp, so a text takes time in proportion to its
// length, whatever is in it; it is for the caller to bound that.
//
// The gateway's own secrets are found by their values: those of the configuration ([Configured]), and those that one call sent
// ([Forms]); a [Redactor] applies both to the answers of a call. [Sensitive] hides the fields that the operator lists.
//
// The one rule: what is found goes, and what is not known stays. The patterns are a net, not a wall.
package redact
