package auth

import (
	"context"
	"time"
)

// Principal is who a verified token speaks for. It is shared by all requests
// that bring the token: treat it as read-only.
type Principal struct {
	// Issuer is the issuer identifier, "iss".
	Issuer string
	// Subject is "sub"; empty if the token has none.
	Subject string
	// ClientID is "client_id", else "azp"; empty if the token has neither.
	ClientID string
	// Scopes are the granted scopes, as they stand in the token.
	Scopes []string
	// Expiry is the time after which the token is no longer accepted, without the skew.
	Expiry time.Time
	id     string
}

// ID returns a name that is unique among the principals of all issuers. It is
// not a secret.
func (p *Principal) ID() string {
	if p == nil {
		return ""
	}
	if p.id != "" {
		return p.id
	}
	return identify(p.Issuer, p.Subject, p.ClientID)
}

// identify joins issuer and subject. An issuer identifier holds neither '|'
// nor '#', so the result can be read in one way only.
func identify(issuer, subject, client string) string {
	if subject != "" {
		return issuer + "|" + subject
	}
	return issuer + "#" + client
}

type contextKey struct{}

// NewContext returns a context that carries the principal.
func NewContext(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns the principal of the request, or nil if there is none.
func FromContext(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}
