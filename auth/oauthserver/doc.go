// Package oauthserver holds the parts that the authorization servers of this module share: it reads forms, checks redirect URIs, PKCE
// and client metadata, and writes errors.
//
// It hides the syntax of RFC 6749, 7591, 7636 and 8252. It has no state and issues no tokens. The rule that must not be broken: a redirect
// URI is compared as a whole, except for the port of a loopback address.
package oauthserver
