// Package signin lets operators in to the console: sessions, their cookie, roles, and the ways to sign in.
//
// It hides how a session is stored, how a token is compared and how an OpenID provider is asked. A session is kept in
// memory for [Lifetime]; the browser has a random identifier of it, of which the gateway keeps only the digest.
//
// The rule that must not be broken: an identifier that a browser brings is never given a session; signing in makes a new
// one (session fixation), and ends the one before. A session ends with the configured credential that began it.
package signin
