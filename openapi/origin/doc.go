// Package origin decides whether two URLs have the same origin and whether a host is this machine. Credentials,
// references of documents, redirects, CORS and consent to plain HTTP all depend on these two decisions.
//
// It depends only on the standard library, so that every package may use it. The rule that must not be broken: a
// spelling that isn't certainly the same is another origin, and a host that isn't certainly this machine isn't
// loopback. Names are never resolved: gateway/upstream decides at the moment of dialing which addresses may be dialed.
package origin
