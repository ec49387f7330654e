// Package registration is the authorization server that the gateway is in front of a provider at which MCP clients can't register
// (auth.registration): metadata (RFC 8414), client registration (RFC 7591), client ID metadata documents, and the authorization and token
// endpoints of public clients with PKCE.
//
// It hides the two legs of a login: that between client and gateway, and that between gateway and provider, whose tokens the client gets.
// It stores nothing: what it has to remember, clients and browsers keep, sealed.
//
// The rules that must not be broken: the provider's code and refresh token leave only in seals that open for the client they were made
// for; nothing is sent to the provider or to a client's redirect URI before the user has approved that client on a page of the gateway; and
// no access token is handed out that the gateway itself does not accept.
package registration
