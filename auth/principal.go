package auth

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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
	bound  bool          // the token was sent with a proof
	skew   time.Duration // for which it is still accepted after Expiry
	claims *claimSet     // nil: they are not kept
	group  int           // number of the one that it belongs to, from 1; 0: none
	member string        // its name there
}

// Until returns when the token begins to be refused: after its expiry, the
// gateway tolerates the difference of clocks, an issuer that is asked does not.
// Zero if the token has no expiry.
func (p *Principal) Until() time.Time {
	if p.Expiry.IsZero() {
		return p.Expiry
	}
	return p.Expiry.Add(p.skew)
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

// Carry returns ctx with the caller whom another context carries: for what is done for a caller after the request.
func Carry(ctx, from context.Context) context.Context {
	if p := FromContext(from); p != nil {
		ctx = NewContext(ctx, p)
	}
	if t, ok := SubjectToken(from); ok {
		ctx = context.WithValue(ctx, tokenKey{}, t)
	}
	return ctx
}

type tokenKey struct{}

// Token is the caller's access token on its way to a token exchange (RFC 8693).
// It prints as [redacted].
type Token struct{ value string }

// SubjectToken returns the caller's token. It is there for token exchange
// alone: the token must go to the authorization server and to nobody else (T1).
// False: there is none, or [Options.KeepToken] is not set.
func SubjectToken(ctx context.Context) (Token, bool) {
	t, ok := ctx.Value(tokenKey{}).(Token)
	return t, ok
}

// Use hands the token to f, and returns what f returns. f must not keep it.
func (t Token) Use(f func(token string) error) error { return f(t.value) }

const redacted = "[redacted]"

// String implements [fmt.Stringer].
func (Token) String() string { return redacted }

// GoString implements [fmt.GoStringer].
func (Token) GoString() string { return redacted }

// Format implements [fmt.Formatter], for the verbs that ask nobody.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements [slog.LogValuer].
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }
