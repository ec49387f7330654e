// Package authtest is an authorization server for development and tests: a whole login on one machine, with nothing to
// set up. It backs the demo and is the fixture of tests that need tokens.
//
// It hides what an OAuth 2.1 authorization server for MCP clients consists of: discovery (RFC 8414, OpenID Connect),
// the authorization code with PKCE, a consent page, refresh tokens with rotation, registration of clients (RFC 7591) and
// client ID metadata documents, resource indicators (RFC 8707), "iss" in answers (RFC 9207), JWT access tokens
// (RFC 9068) or opaque ones with introspection (RFC 7662), revocation (RFC 7009), client credentials, token exchange
// (RFC 8693) and DPoP (RFC 9449).
//
// It knows one user, who needs no password, and its keys are gone when it ends. Therefore the one rule: it serves the
// machine that it runs on and nobody else. It opens and takes only loopback listeners, refuses requests that came in by
// another address, for another host or through a proxy, and dials loopback addresses only.
package authtest
