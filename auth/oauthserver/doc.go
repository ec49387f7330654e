// Package oauthserver is what authorization servers have in common: how they read forms, check redirect URIs, PKCE and client
// metadata, and word errors.
//
// It hides the syntax of RFC 6749, 7591, 7636 and 8252. It keeps nothing and knows no tokens. The rule that must not be broken: a redirect
// URI is compared as a whole, except for the port of a loopback address.
package oauthserver
