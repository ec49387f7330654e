// Package redact removes from the responses of a service the parts that are not for the caller: the gateway's own
// credentials, which some services echo; sensitive fields; and, in errors, secrets of every known form, addresses and
// stack traces (P7).
//
// It hides the patterns, and how secrets are distinguished from the words around them. The text that a model needs to
// make a better call must stay, and that is nearly all of an error. The patterns are expressions of Go's regexp, so the
// time is proportional to the length of the text for any input; the caller limits the length.
//
// The gateway's own secrets are found by their values: those of the configuration ([Configured]), and those that one
// call sent ([Forms]); a [Redactor] applies both to the responses of a call. [Sensitive] hides the fields that the
// operator lists.
//
// The rule that must not be broken: everything that matches is removed, and everything else stays. The patterns are a
// net, not a wall.
package redact
