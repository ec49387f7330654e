// Package auth makes the gateway an OAuth 2.1 resource server: it verifies the
// caller's access token, says how to get one (RFC 6750 challenges, RFC 9728
// metadata), and answers whether a caller's scopes suffice.
//
// It hides discovery, key sets and their rotation, the rules for JWT access
// tokens (RFC 9068, RFC 8725), and a cache of verified tokens.
//
// The one rule: a token is accepted only when every check passed, with a key
// of the very issuer that it names; whatever fails, there is no second way in,
// and no token or part of one leaves this package in an error, a log line or a
// context.
package auth
