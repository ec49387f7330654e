// Package credential authenticates the gateway to the services behind it, and passes the caller's
// identity on to them.
//
// It hides how a credential is written into a request ([New], [Set]), how a token is obtained,
// cached and refreshed ([OAuth]), how a service learns of the caller ([Identity],
// [NewPassThrough]), and how keys and certificates are reloaded after a rotation ([SigningKey],
// [ClientCertificate]). All of it comes as wrappers of a [net/http.RoundTripper], except for the
// certificate, which belongs to a connection.
//
// The one rule: a credential is sent to its own origin and to no other (E4), and no secret is in an
// error or in anything that is printed (E8).
package credential
