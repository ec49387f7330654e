package auth

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// Issuer is one authorization server whose tokens are accepted.
type Issuer struct {
	// URL is the issuer identifier, compared byte for byte with "iss". It is
	// https, or http on a loopback host.
	URL string
	// Audiences are the values of which "aud" must contain one. Empty: the
	// resource identifier.
	Audiences []string
	// Algorithms are the signature algorithms allowed. Empty: RS, PS and ES with
	// 256, 384 and 512, and EdDSA.
	Algorithms []string
	// Types are values of the "typ" header accepted besides "at+jwt"; "" accepts
	// a token without one.
	Types []string
	// Skew is the difference of clocks that is tolerated. Default 60 s, at most 300 s.
	Skew time.Duration
}

// Options configure a [Guard].
type Options struct {
	// Resource is the resource identifier (RFC 8707): the public URL of the endpoint.
	Resource string
	// Issuers are the authorization servers, at least one.
	Issuers []Issuer
	// DefaultScopes are what an operation without scopes of its own needs, and
	// what challenges and metadata name.
	DefaultScopes []string
	// AllowUnscoped permits empty DefaultScopes: then a valid token is enough
	// for an operation without scopes of its own (Z4).
	AllowUnscoped bool
	// Implies maps a scope to those that it includes; it is followed transitively.
	Implies map[string][]string
	// Client fetches discovery documents and key sets; required. Its transport
	// is used; the timeout, the redirect rule and the size limit are the guard's own.
	Client *http.Client
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
	// Logger receives refusals (debug) and problems with issuers (warning). Nil: none.
	Logger *slog.Logger
}

// Guard verifies tokens. It is safe for concurrent use.
type Guard struct{}

// New checks the options, reports all problems with them, and returns a guard
// that has fetched nothing yet: [Guard.Run] or the first token does.
func New(o Options) (*Guard, error) { return &Guard{}, nil }

// Protect lets requests with a valid token through, with the [Principal] in
// their context, and answers all others: 401, 400 or 503.
func (g *Guard) Protect(next http.Handler) http.Handler { return next }

// Metadata answers with the protected resource metadata (RFC 9728).
func (g *Guard) Metadata() http.Handler { return http.NotFoundHandler() }

// MetadataPaths returns the paths at which [Guard.Metadata] is to be mounted.
func (g *Guard) MetadataPaths() []string { return nil }

// Run keeps the issuers' keys fresh until ctx ends, then returns nil. It is
// called once; its caller waits for it.
func (g *Guard) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Allows reports whether the principal has all the scopes, by itself or by
// Implies; none given means the default scopes.
func (g *Guard) Allows(p *Principal, scopes []string) bool { return false }

// Forbidden returns header and body of the 403 for a caller whose scopes do not
// suffice (RFC 6750 section 3.1, insufficient_scope).
func (g *Guard) Forbidden(p *Principal, scopes []string) (http.Header, []byte) { return nil, nil }
