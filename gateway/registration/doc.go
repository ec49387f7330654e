// Package registration serves an OAuth authorization server in front of an OpenID provider at which MCP clients can't register
// (auth.registration): metadata (RFC 8414), client registration (RFC 7591), client ID metadata documents, and the authorization and token
// endpoints of public clients with PKCE.
//
// A login is two authorization code flows, one inside the other: the client's at the gateway, and the gateway's at the provider, where
// the gateway is a relying party. The package hides the second one. The client gets the provider's access token; its code and refresh
// token are those of the provider, sealed.
//
// It stores no client and no login. Registrations, requests, codes and refresh tokens are kept by clients and browsers, as handles that
// are encrypted and bound to their owner (seals). In memory are only used codes and refresh tokens, a cache of metadata documents, and rate
// counters.
//
// The rules that must not be broken: the provider's code and refresh token leave only in seals that open for the client they were made
// for; nothing is sent to the provider or to a client's redirect URI before the user has approved that client on a page of the gateway; and
// no access token is handed out that the gateway itself does not accept.
package registration
