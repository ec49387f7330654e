// Package authe2e is the proof that callers get in who should, and nobody else, with nothing of our own between them and
// the gateway: the official clients of the protocol and MCP Inspector log in at oidc-provider, an authorization server
// that others wrote and had certified, and the same at the one of the demo (auth/authtest). Tokens expire, keys turn,
// tokens are revoked, and everything the gateway writes or sends is searched for parts of them.
//
// One issuer of oidc-provider can also be the authorization server of a service, at which the callers of another have accounts.
//
// TestKeycloak follows docs/start/keycloak.md with a Keycloak that deploy/keycloak/install has installed, by make keycloak-e2e.
//
// It hides processes that take commands a line (lines.mjs), a user with a browser, and gateways with an ear on all that
// leaves them. It holds no code but tests. The one rule: what a scenario needs to know, it learns as the client does,
// over the network; no client is told where to log in, or what for.
package authe2e
