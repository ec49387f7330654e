// Package relyingparty logs people in at an OpenID provider, by the authorization code flow with PKCE (OpenID Connect Core section 3.1), or at an
// authorization server without ID tokens (OAuth 2.1 section 4.1).
//
// It hides the provider's metadata, state, nonce and PKCE, the cookie that binds a login to the browser that began it, and the checks of
// the response and of the ID token. It keeps nothing about logins: the browser keeps a login while it is under way, sealed.
//
// The rule that must not be broken: a code is redeemed only for the browser that began the login at the same provider, and the ID token
// must have the nonce of that login.
package relyingparty
