// Package credential authenticates the gateway to the services behind it, and
// tells them who calls.
//
// It hides where a credential stands in a request and how it is written there
// ([New], [Set]), how a token is got, kept and replaced ([OAuth]), how a service
// learns of the caller ([Identity], [NewPass]), and how keys and certificates are
// read again after a rotation ([SigningKey], [ClientCertificate]). All of it
// comes as wrappers of an [net/http.RoundTripper], but for the certificate, which
// belongs to a connection.
//
// The one rule: what is attached goes to its own origin and to no other (E4),
// and no secret is in a text: no error, and nothing that is printed (E8).
package credential
