// Package balance sends requests for a service to its instances in turn.
//
// It hides which instance is next, which ones get no requests for a while because nothing could connect to them or too many
// requests in a row failed, and how the body of a request survives a connection that did not come about. The rule that must not be broken: a request goes to another
// instance only if nothing of it was sent.
package balance
