package auth

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Principal is the identity that a verified token or an API key represents. It is shared by all
// requests with that credential; treat it as read-only.
type Principal struct {
	// Credential is the kind of credential.
	Credential CredentialKind
	// Issuer is the issuer identifier, "iss"; empty for a key.
	Issuer string
	// Subject is "sub", or [APIKey.Principal]; empty if the token has none.
	Subject string
	// ClientID is "client_id", else "azp", or [APIKey.Name]; empty if the token has neither.
	ClientID string
	// Groups are [APIKey.Groups]; those of a token are claims.
	Groups []string
	// Scopes are the granted scopes, unchanged.
	Scopes []string
	// Expiry is the expiry of the token, without the clock skew; zero if it has none.
	Expiry      time.Time
	id          string
	bound       bool          // the token was sent with a DPoP proof
	skew        time.Duration // added to Expiry
	claims      *claimSet     // nil unless claims are kept
	group       int           // 1-based index of its group; 0 if it has none
	groupMember string        // its name in the group
}

// CredentialKind is the kind of credential that a caller has presented.
type CredentialKind string

// Kinds of credentials.
const (
	CredentialJWT    CredentialKind = "jwt"
	CredentialOpaque CredentialKind = "opaque" // a token that was introspected
	CredentialAPIKey CredentialKind = "api_key"
)

// Until returns the time at which the token begins to be rejected: Expiry plus the tolerated clock
// skew, which applies to JWTs only. It is zero if the token has no expiry.
func (p *Principal) Until() time.Time {
	if p.Expiry.IsZero() {
		return p.Expiry
	}
	return p.Expiry.Add(p.skew)
}

// ID returns a name that is unique among the principals of all issuers. It is not secret.
func (p *Principal) ID() string {
	if p == nil {
		return ""
	}
	if p.id != "" {
		return p.id
	}
	return identify(p.Issuer, p.Subject, p.ClientID)
}

// identify joins issuer and subject. An issuer identifier contains neither '|' nor '#', so the
// result is unambiguous. That of an API key begins with "key", which is no issuer identifier.
func identify(issuer, subject, client string) string {
	issuer = cmp.Or(issuer, "key")
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

// Caller is the caller of a request, as a value for work that is done on its behalf after the request.
type Caller struct {
	principal *Principal
	token     *Token
}

// CallerFromContext returns the caller of a request. Its zero value is that of a request without a token.
func CallerFromContext(ctx context.Context) Caller {
	c := Caller{principal: FromContext(ctx)}
	if t, ok := SubjectToken(ctx); ok {
		c.token = &t
	}
	return c
}

// Principal returns the principal, or nil if there is none.
func (c Caller) Principal() *Principal { return c.principal }

// Context returns ctx with the principal and the token of the caller.
func (c Caller) Context(ctx context.Context) context.Context {
	if c.principal != nil {
		ctx = NewContext(ctx, c.principal)
	}
	if c.token != nil {
		ctx = context.WithValue(ctx, tokenKey{}, *c.token)
	}
	return ctx
}

type tokenKey struct{}

// Token is the caller's access token, for use in a token exchange (RFC 8693). It prints as
// [redacted].
type Token struct{ value string }

// SubjectToken returns the caller's token, for token exchange only: it must be sent to the
// authorization server and to nobody else (T1). It returns false if there is none, or
// [Options.KeepToken] is not set.
func SubjectToken(ctx context.Context) (Token, bool) {
	t, ok := ctx.Value(tokenKey{}).(Token)
	return t, ok
}

// Use calls f with the token and returns its error. f must not keep the token.
func (t Token) Use(f func(token string) error) error { return f(t.value) }

const redacted = "[redacted]"

// String implements [fmt.Stringer].
func (Token) String() string { return redacted }

// GoString implements [fmt.GoStringer].
func (Token) GoString() string { return redacted }

// Format implements [fmt.Formatter], for the verbs that do not call String.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements [slog.LogValuer].
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }
