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
	costs   bool          // unavailable: it is on the account of its address all the same
}

// Error implements error.
func (r *refusal) Error() string { return r.reason }

func refuse(reason string) *refusal { return &refusal{outcome: badToken, reason: reason} }

// credential is what a request brings to be let in.
type credential struct {
	token   string
	dpop    bool          // the scheme is DPoP, not Bearer
	proof   string        // with DPoP
	request *http.Request // nil only in tests
	check   *Check        // what is done for it; nil: nothing, or nobody wants to know
}

// Protect lets requests with a valid token through, with the [Principal] in
// their context. All others it answers itself: 401 with a challenge, 400, 429
// or 503. It answers every method so: CORS preflight is for a layer before it.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, refused := g.credential(r)
		if c.token == "" {
			g.count(r, refused.String(), refused)
			g.challenges.write(w, refused, c.dpop, 0)
			return
		}
		p, err := g.authenticate(r.Context(), c)
		if err != nil {
			g.refuse(w, r, c, err)
			return
		}
		if c.dpop {
			g.proofs.refreshNonce(w.Header(), c.proof, g.now())
		}
		ctx := NewContext(r.Context(), p)
		if g.keepToken {
			ctx = context.WithValue(ctx, tokenKey{}, Token{c.token})
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// isUnavailable tells whether a token could not be looked at, so that nobody knows whether it is good.
func isUnavailable(err error) bool {
	var no *refusal
	return !errors.As(err, &no) || no.outcome == unavailable
}

// costsAddress tells whether a token that came to err is on the account of its address: it is no good, or of an unknown key when the issuer has been asked
// for such keys too often and has answered, or it may be why the issuer refused the question. While the issuer is away nobody knows whether a token is good.
func costsAddress(err error) bool {
	var no *refusal
	return err != nil && (!isUnavailable(err) || errors.As(err, &no) && no.costs)
}

func (g *Guard) refuse(w http.ResponseWriter, r *http.Request, c credential, err error) {
	var no *refusal
	if !errors.As(err, &no) { // the client went away while keys were fetched
		no = &refusal{outcome: unavailable, reason: "canceled"}
	}
	g.count(r, no.reason, no.outcome)
	if g.log.Enabled(r.Context(), slog.LevelDebug) {
		attrs := []slog.Attr{slog.String("reason", no.reason), slog.String("issuer", no.issuer)}
		if g.address != nil {
			if client, ok := g.address(r); ok {
				attrs = append(attrs, slog.String("client", client.String()))
			}
		}
		g.log.LogAttrs(r.Context(), slog.LevelDebug, "token refused", attrs...)
	}
	if no.outcome == nonceNeeded {
		g.proofs.setNonce(w.Header(), g.now())
	}
	g.challenges.write(w, no.outcome, c.dpop, no.retry)
}

// count tells who counts refusals of one.
func (g *Guard) count(r *http.Request, reason string, o outcome) {
	if g.refused != nil {
		g.refused(r, reason, g.challenges.answers[o].status)
	}
}

// credential returns the one token of the request, or none and the outcome (T9, H4).
func (g *Guard) credential(r *http.Request) (credential, outcome) {
	var c credential
	if q := r.URL.RawQuery; q != "" && queryHasToken(q) {
		return c, badRequest
	}
	values := r.Header["Authorization"]
	switch len(values) {
	case 0:
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
			return c, badRequest // RFC 6750 section 2.2, which is not supported
		}
		return c, noToken
	case 1:
	default:
		return c, badRequest
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if strings.IndexByte(values[0], ',') >= 0 {
		return c, badRequest // two lines that a proxy has joined
	}
	if g.proofs != nil && strings.EqualFold(scheme, "DPoP") {
		c.dpop = true
	} else if !strings.EqualFold(scheme, "Bearer") {
		return c, noToken
	}
	proofs := r.Header["Dpop"]
	if len(proofs) > 1 || len(proofs) == 1 && strings.IndexByte(proofs[0], ',') >= 0 {
		return c, badProofs
	}
	if token = strings.Trim(token, " "); !isToken68(token) {
		return c, badRequest
	}
	if c.dpop {
		if len(proofs) == 0 {
			return c, badProof
		}
		c.proof = proofs[0]
	}
	c.token, c.request = token, r
	return c, 0
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
		if !token68[s[i]] {
			return false
		}
	}
	return s != ""
}

// token68 tells of each byte whether it may stand in a b64token. It is never written to.
var token68 = func() (set [256]bool) {
	for c := range set {
		b := byte(c)
		set[c] = isBase64URL(b) || b == '.' || b == '~' || b == '+' || b == '/'
	}
	return set
}()

func isBase64URL(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// authenticate verifies a token, or finds that it was verified before with keys
// that are still in force; then it checks the proof of a token that needs one.
func (g *Guard) authenticate(ctx context.Context, c credential) (*Principal, error) {
	if len(c.token) > maxToken {
		return nil, refuse("token too long")
	}
	now := g.now()
	var buf [2 << 10]byte // most tokens fit, and then nothing is allocated
	sum := sha256.Sum256(append(buf[:0], c.token...))
	v := g.cache.get(sum, now)
	if v == nil && g.opaque != nil {
		v = g.opaque.asks.recall(c.token, now).good
	}
	if v == nil {
		if g.checked != nil {
			c.check = &Check{Begin: now}
		}
		good, err := g.badTokens.spend(c.request, now)
		if err != nil {
			return nil, err
		}
		v, err = g.verify(ctx, c, now)
		if !costsAddress(err) {
			good()
		}
		if err != nil {
			g.tellCheck(c, err)
			return nil, err
		}
		if v.issuer.asks == nil {
			g.cache.put(sum, v, now)
		}
	}
	if len(g.own) > 0 && !g.isHere(v) {
		return nil, v.issuer.refuse("audience")
	}
	if c.dpop || v.thumbprint != "" {
		if g.checked != nil && c.check == nil {
			c.check = &Check{Begin: now, Kind: CheckProof, Issuer: v.issuer.url}
		}
		if err := g.proofs.check(ctx, c, v, sum, now); err != nil {
			g.tellCheck(c, err)
			return nil, err
		}
	}
	g.tellCheck(c, nil)
	return v.principal, nil
}
