package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// rejection is the reason that a token was not accepted. It holds nothing of the token.
type rejection struct {
	outcome    outcome
	reason     string        // for the log; one of a closed set
	issuer     string        // a configured issuer, or empty
	key        string        // the name of a configured API key, or empty
	retryAfter time.Duration // the Retry-After of an unavailable outcome
	charged    bool          // an unavailable outcome that is charged to the caller's address nevertheless
}

// Error implements error.
func (r *rejection) Error() string { return r.reason }

func reject(reason string) *rejection { return &rejection{outcome: badToken, reason: reason} }

// credential is the access token of a request, with its DPoP proof, or its API key.
type credential struct {
	token   string
	apiKey  bool          // it is an API key, by its prefix or its header
	dpop    bool          // the scheme is DPoP, not Bearer
	proof   string        // only with DPoP
	request *http.Request // nil only in tests
	check   *Check        // the work done for it; nil if nothing is measured
}

// Protect passes requests with a valid token or API key on, with the [Principal] in their context. It answers
// all others itself: 401 with a challenge, 400, 429 or 503. It does so for every method; CORS
// preflight belongs to an outer middleware.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, refused := g.credential(r)
		if c.token == "" {
			g.notifyRejection(r, refused.String(), refused)
			g.challenges.write(w, refused, c.dpop, 0)
			return
		}
		p, err := g.authenticate(r.Context(), c)
		if err != nil {
			g.reject(w, r, c, err)
			return
		}
		if c.dpop {
			g.dpop.refreshNonce(w.Header(), c.proof, g.now())
		}
		ctx := NewContext(r.Context(), p)
		if g.keepToken && !c.apiKey {
			ctx = context.WithValue(ctx, tokenKey{}, Token{c.token})
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// isUnavailable reports whether a token could not be verified, so that its validity is unknown.
func isUnavailable(err error) bool {
	var rejected *rejection
	return !errors.As(err, &rejected) || rejected.outcome == unavailable
}

// chargesAddress reports whether a token that failed with err is charged to the caller's address:
// it is invalid, names an unknown key when the issuer has been asked for such keys too often and
// has answered, or may be the cause of the issuer's error. While the issuer is down, a token's
// validity is unknown and nothing is charged.
func chargesAddress(err error) bool {
	var rejected *rejection
	return err != nil && (!isUnavailable(err) || errors.As(err, &rejected) && rejected.charged)
}

func (g *Guard) reject(w http.ResponseWriter, r *http.Request, c credential, err error) {
	var rejected *rejection
	if !errors.As(err, &rejected) { // the client went away while keys were fetched
		rejected = &rejection{outcome: unavailable, reason: "canceled"}
	}
	g.notifyRejection(r, rejected.reason, rejected.outcome)
	if g.log.Enabled(r.Context(), slog.LevelDebug) {
		attrs := []slog.Attr{slog.String("reason", rejected.reason), slog.String("issuer", rejected.issuer)}
		if rejected.key != "" {
			attrs = append(attrs, slog.String("key", rejected.key))
		}
		if g.clientAddress != nil {
			if client, ok := g.clientAddress(r); ok {
				attrs = append(attrs, slog.String("client", client.String()))
			}
		}
		g.log.LogAttrs(r.Context(), slog.LevelDebug, "token refused", attrs...)
	}
	if rejected.outcome == nonceNeeded {
		g.dpop.setNonce(w.Header(), g.now())
	}
	g.challenges.write(w, rejected.outcome, c.dpop, rejected.retryAfter)
}

// notifyRejection calls the hook for rejected requests.
func (g *Guard) notifyRejection(r *http.Request, reason string, o outcome) {
	if g.onReject != nil {
		g.onReject(r, reason, g.challenges.bearer[o].status)
	}
}

// Presents reports whether a request has a credential, good or not.
func (g *Guard) Presents(r *http.Request) bool {
	return len(r.Header["Authorization"])+len(g.APIKeys(r.Header)) > 0
}

// APIKeys returns the values of X-API-Key, which is an ordinary header if there are no keys. The receiver may be nil.
func (g *Guard) APIKeys(h http.Header) []string {
	if g == nil || g.apiKeys == nil {
		return nil
	}
	return h[apiKeyHeader]
}

// credential returns the single token or API key of the request, or none and the outcome (T9, H4).
func (g *Guard) credential(r *http.Request) (credential, outcome) {
	var c credential
	if q := r.URL.RawQuery; q != "" && queryHasToken(q) {
		return c, badRequest
	}
	values := r.Header["Authorization"]
	if keys := g.APIKeys(r.Header); len(keys) > 0 {
		if len(keys)+len(values) > 1 || !isToken68(keys[0]) {
			return c, badRequest
		}
		return credential{token: keys[0], apiKey: true, request: r}, 0
	}
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
		return c, badRequest // two header lines that a proxy has joined
	}
	if g.dpop != nil && strings.EqualFold(scheme, "DPoP") {
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
	c.token, c.request, c.apiKey = token, r, isAPIKey(token)
	return c, 0
}

// queryHasToken reports whether a query contains access_token or an API key, however it is escaped
// and separated (RFC 6750 section 2.3, which MCP forbids).
func queryHasToken(query string) bool {
	has := func(text string) bool {
		return strings.Contains(text, "access_token") || strings.Contains(text, APIKeyPrefix)
	}
	if has(query) {
		return true
	}
	if strings.IndexByte(query, '%') < 0 {
		return false
	}
	decoded, err := url.QueryUnescape(query)
	return err != nil || has(decoded)
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

// token68 is the set of bytes allowed in a b64token. It is never written to.
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

// authenticate verifies a token, or finds it in the cache, verified with keys that are still
// current. It then checks the DPoP proof if the token needs one. An API key is looked up.
func (g *Guard) authenticate(ctx context.Context, c credential) (*Principal, error) {
	if len(c.token) > maxToken {
		return nil, reject("token too long")
	}
	now := g.now()
	if c.apiKey {
		return g.authenticateKey(c, now)
	}
	var buf [2 << 10]byte // most tokens fit, and then nothing is allocated
	sum := sha256.Sum256(append(buf[:0], c.token...))
	v := g.cache.get(sum, now)
	if v == nil && g.opaqueIssuer != nil {
		v = g.opaqueIssuer.introspector.cached(c.token, now).verified
	}
	if v == nil {
		if g.onCheck != nil {
			c.check = &Check{Begin: now}
		}
		good, err := g.badTokens.charge(c.request, now)
		if err != nil {
			return nil, err
		}
		v, err = g.verify(ctx, c, now)
		if !chargesAddress(err) {
			good()
		}
		if err != nil {
			g.reportCheck(c, err)
			return nil, err
		}
		if v.issuer.introspector == nil {
			g.cache.put(sum, v, now)
		}
	}
	if !g.isForThisEndpoint(v) {
		return nil, v.issuer.reject("audience")
	}
	if c.dpop || v.thumbprint != "" {
		if g.onCheck != nil && c.check == nil {
			c.check = &Check{Begin: now, Kind: CheckProof, Issuer: v.issuer.url}
		}
		if err := g.dpop.verify(ctx, c, v, sum, now); err != nil {
			g.reportCheck(c, err)
			return nil, err
		}
	}
	g.reportCheck(c, nil)
	return v.principal, nil
}

// authenticateKey finds the caller of a key. A key that is not accepted is charged to its address like an invalid token.
func (g *Guard) authenticateKey(c credential, now time.Time) (*Principal, error) {
	k, err := g.acceptedKey(c, now)
	if err == nil {
		return k.principal, nil
	}
	if _, tooMany := g.badTokens.charge(c.request, now); tooMany != nil {
		return nil, tooMany
	}
	return nil, err
}

// acceptedKey returns the key of a request. A lookup by the hash need not take constant time: its duration depends on bits of the
// hash of the text that was sent, which say nothing about a key with another hash.
func (g *Guard) acceptedKey(c credential, now time.Time) (*apiKey, error) {
	var buf [64]byte
	k := g.apiKeys[sha256.Sum256(append(buf[:0], c.token...))]
	switch {
	case !isAPIKey(c.token):
		return nil, reject("not an API key")
	case c.dpop:
		return nil, reject("API key with a proof")
	case k != nil && k.isExpired(now):
		return nil, &rejection{outcome: expiredToken, reason: "API key expired", key: k.principal.ClientID}
	case k != nil && !k.allows(g, c):
		return nil, &rejection{outcome: badToken, reason: "API key from another address", key: k.principal.ClientID}
	case k != nil:
		return k, nil
	case !isWholeAPIKey(c.token):
		return nil, reject("malformed API key")
	}
	return nil, reject("unknown API key")
}

func (k *apiKey) isExpired(now time.Time) bool {
	return !k.principal.Expiry.IsZero() && !now.Before(k.principal.Expiry)
}

// allows reports whether the key may be used from the address of the request. Without a request, as in [Guard.Explain], it may.
func (k *apiKey) allows(g *Guard, c credential) bool {
	if len(k.addresses) == 0 || c.request == nil {
		return true
	}
	if g.clientAddress == nil {
		return false
	}
	address, ok := g.clientAddress(c.request)
	return ok && slices.ContainsFunc(k.addresses, func(n netip.Prefix) bool { return n.Contains(address) })
}
