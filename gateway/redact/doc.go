// Package redact removes from the responses of a service the parts that are not for the caller: the gateway's own
// credentials, which some services echo; sensitive fields; and, in errors, secrets of every known form, addresses and
// stack traces (P7 in docs/security.md).
//
// It hides the patterns, and how secrets are distinguished from the words around them. The text that a model needs to
// make a better call must stay, and that is nearly all of an error. The patterns are expressions of Go's regexp, so the
// time is proportional to the length of the text for any input; the caller limits the length.
//
// The gateway's own secrets are found by their values: those of the configuration ([Configured]), and those that one
// call sent ([Forms]); a [Redactor] applies both to the responses of a call. A form of a secret is one spelling of it:
// as it is, encoded in a URL, escaped in JSON or XML, or in Base64 as Basic authentication has it. [Kept] lists the URLs
// and addresses that stay in an error. [Sensitive] hides the fields that the operator lists.
//
// The rule that must not be broken: everything that matches is removed, and everything else stays. The patterns can't
// find every secret of a service, so nothing may rely on them alone.
package redact
