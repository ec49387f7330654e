// Package auth makes the gateway an OAuth 2.1 resource server: it verifies the caller's access
// token, issues challenges (RFC 6750) and metadata (RFC 9728) that tell clients how to obtain one,
// and decides whether the granted scopes suffice.
//
// It hides discovery, key sets and their rotation, the rules for JWT access tokens (RFC 9068, RFC
// 8725), introspection of opaque tokens (RFC 7662), proof of possession (RFC 9449), the
// peculiarities of eight providers, and the caches of verified tokens. A [Condition] decides by
// more than scopes.
//
// The one rule: a token is accepted only when every check passed, with a key or an answer of the
// issuer that the token names; there is no fallback. No token or part of one leaves this package in
// an error, a log line or a context, except through [SubjectToken], which exists for token exchange
// and is off by default.
package auth
