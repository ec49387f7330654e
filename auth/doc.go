// Package auth makes the gateway an OAuth 2.1 resource server: it verifies the
// caller's access token, says how to get one (RFC 6750 challenges, RFC 9728
// metadata), and answers whether a caller's scopes suffice.
//
// It hides discovery, key sets and their rotation, the rules for JWT access
// tokens (RFC 9068, RFC 8725), introspection of opaque ones (RFC 7662), proofs
// of possession (RFC 9449), what is peculiar to eight providers, and caches of
// what was verified. A [Condition] decides by more than scopes.
//
// The one rule: a token is accepted only when every check passed, with a key or
// the answer of the very issuer that it is from; whatever fails, there is no
// second way in. No token or part of one leaves this package in an error, a log
// line or a context, but for [SubjectToken], which exists for token exchange and
// is off by default.
package auth
