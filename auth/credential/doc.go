// Package credential authenticates the gateway to the services behind it.
//
// It hides where a credential stands in a request (header, query, cookie), how
// it is written there, and how its secret is read again after a rotation.
//
// The one rule: a credential is attached to requests for its own origin and to
// no others (E4), and its secret is in no error text.
package credential
