// Package issuer is the smallest authorization server that an access token can come from: a discovery document, a
// key set and one ES256 key. It exists for tests and measurements that run the gateway with tokens checked; it
// has no login. The one rule: it listens on loopback only.
package issuer
