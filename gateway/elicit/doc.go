// Package elicit asks users for the missing arguments of a call or a prompt (elicitation): it derives forms from
// schemas, asks step by step through the client, and validates the answers. It also asks for consent to a call.
//
// It hides the differences between the forms of the MCP revisions, and the capabilities of clients. It does not know
// calls: it returns values by name. The rule that must not be broken: a form never asks a user for a secret, and text
// from outside (a document, a service, a caller) is shown without invisible characters and never passes for the
// gateway's own.
package elicit
