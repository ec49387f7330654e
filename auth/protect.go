package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// refusal is why a token was not accepted. It holds nothing of the token.
type refusal struct {
	outcome outcome
	reason  string        // for the log: one of a closed set
	issuer  string        // a configured issuer, or empty
	retry   time.Duration // unavailable: when to come back
}

// Error implements error.
func (r *refusal) Error() string { return r.reason }

func refuse(reason string) *refusal { return &refusal{outcome: badToken, reason: reason} }

// Protect lets requests with a valid token through, with the [Principal] in
// their context. All others it answers itself: 401 with a challenge, 400, or
// 503. It answers every method so: CORS preflight is for a layer before it.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, outcome := bearer(r)
		if token == "" {
			g.challenges.write(w, outcome, 0)
			return
		}
		p, err := g.authenticate(r.Context(), token)
		if err != nil {
			g.refuse(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(NewContext(r.Context(), p)))
	})
}

func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var no *refusal
	if !errors.As(err, &no) { // the client went away while keys were fetched
		no = &refusal{outcome: unavailable, reason: "canceled"}
	}
	g.log.LogAttrs(r.Context(), slog.LevelDebug, "token refused",
		slog.String("reason", no.reason), slog.String("issuer", no.issuer))
	g.challenges.write(w, no.outcome, no.retry)
}

// bearer returns the one token of the request, or "" and the outcome (T9).
func bearer(r *http.Request) (string, outcome) {
	if q := r.URL.RawQuery; q != "" && queryHasToken(q) {
		return "", badRequest
	}
	values := r.Header["Authorization"]
	switch len(values) {
	case 0:
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			return "", badRequest // RFC 6750 section 2.2, which is not supported
		}
		return "", noToken
	case 1:
	default:
		return "", badRequest
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if strings.IndexByte(values[0], ',') >= 0 {
		return "", badRequest // two lines that a proxy has joined
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return "", noToken
	}
	if token = strings.Trim(token, " "); !isToken68(token) {
		return "", badRequest
	}
	return token, 0
}

// queryHasToken looks for access_token, however it is escaped and whatever
// separates it (RFC 6750 section 2.3, which MCP forbids).
func queryHasToken(query string) bool {
	if strings.Contains(query, "access_token") {
		return true
	}
	if strings.IndexByte(query, '%') < 0 {
		return false
	}
	decoded, err := url.QueryUnescape(query)
	return err != nil || strings.Contains(decoded, "access_token")
}

// isToken68 reports whether s is a b64token, RFC 6750 section 2.1.
func isToken68(s string) bool {
	s = strings.TrimRight(s, "=")
	for i := range len(s) {
		c := s[i]
		if !isBase64URL(c) && c != '.' && c != '~' && c != '+' && c != '/' {
			return false
		}
	}
	return s != ""
}

func isBase64URL(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// authenticate verifies a token, or finds that it was verified before with keys
// that are still in force.
func (g *Guard) authenticate(ctx context.Context, token string) (*Principal, error) {
	if len(token) > maxToken {
		return nil, refuse("token too long")
	}
	now := g.now()
	var buf [2 << 10]byte // most tokens fit, and then nothing is allocated
	sum := sha256.Sum256(append(buf[:0], token...))
	if p := g.cache.get(sum, now); p != nil {
		return p, nil
	}
	v, err := g.verify(ctx, token, now)
	if err != nil {
		return nil, err
	}
	g.cache.put(sum, v, now)
	return v.principal, nil
}
