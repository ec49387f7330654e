// Package authtest is an authorization server for development and tests: a complete login on one
// machine without setup. It backs the demo and is the fixture of tests that need tokens.
//
// It hides the parts of an OAuth 2.1 authorization server for MCP clients: discovery (RFC 8414,
// OpenID Connect), the authorization code with PKCE, a consent page, refresh tokens with rotation,
// client registration (RFC 7591) and client ID metadata documents, resource indicators (RFC 8707),
// "iss" in responses (RFC 9207), JWT access tokens (RFC 9068) or opaque ones with introspection
// (RFC 7662), revocation (RFC 7009), client credentials, token exchange (RFC 8693), the
// on-behalf-of flow of Entra ID and DPoP (RFC 9449).
//
// It has one user, who needs no password, and its keys are lost when it ends. Therefore the one
// rule: it serves only the machine that it runs on. It opens and accepts only loopback listeners,
// rejects requests to another address or host or through a proxy, and dials loopback addresses
// only.
package authtest
