// Package elicit asks users for what a call or a prompt needs (elicitation): it makes forms of schemas, asks step by step
// through the client, and validates the answers. It also asks for consent to a call.
//
// It hides what each revision of MCP can say in a form, and what a client can be asked. It knows nothing of calls: it returns
// values by name. The rule that must not be broken: a user is never asked for a secret in a form, and words that come from
// outside (a document, a service, a caller) are shown without invisible characters and never pass for the gateway's own.
package elicit
