package credential

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/openapi/origin"
)

// IdentityOptions configure an [Identity].
type IdentityOptions struct {
	// Issuer is "iss": the gateway's public URL.
	Issuer string
	// Files are PEM files with one P-256 private key each. The first signs; the others are
	// published only, such as the next key before it signs and the previous one afterwards, to
	// give replicas and services time.
	Files []string
	// Lifetime is the time from "iat" to "exp": at least ten seconds, at most one minute, which is
	// the default.
	Lifetime time.Duration
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Identity tells services the identity of the caller in a header: a short-lived JWT, signed with
// ES256, that a service verifies with the keys of [Identity.Keys]. Its claims are iss, aud, iat,
// exp and jti; sub, client_id and scope of the caller's token; and idp, the issuer of that token,
// since sub is unique per issuer only. It is safe for concurrent use.
type Identity struct {
	issuer string
	life   time.Duration
	keys   *keyring
	now    func() time.Time
}

const (
	maxIdentityLife = time.Minute
	minIdentityLife = 10 * time.Second
)

// NewIdentity reads the keys, and reports all problems.
func NewIdentity(o IdentityOptions) (*Identity, error) {
	i := &Identity{issuer: o.Issuer, life: cmp.Or(o.Lifetime, maxIdentityLife), now: clock(o.Now)}
	var problems []error
	if u, err := url.Parse(o.Issuer); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		problems = append(problems, errors.New("credential: the issuer of identities must be an absolute http or https URL"))
	}
	if i.life < minIdentityLife || i.life > maxIdentityLife {
		problems = append(problems, fmt.Errorf("credential: an identity can't live for %s: %s to %s are good", i.life, minIdentityLife, maxIdentityLife))
	}
	var err error
	if i.keys, err = newKeyring(o.Files, i.life, i.now); err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return i, nil
}

// Problem returns the reason that the current key files can't be used, while the last usable keys
// are; nil if there is none.
func (i *Identity) Problem() error { return i.keys.files.problem() }

// Exposed returns the key files that are world-readable (E8).
func (i *Identity) Exposed() []string { return i.keys.files.exposed() }

// Keys serves the public keys (RFC 7517 section 5) to GET and HEAD. It requires no token (Z9).
func (i *Identity) Keys() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		_, keys, err := i.keys.refresh()
		if err == nil {
			body, err = json.Marshal(keys)
		}
		if err != nil {
			http.Error(w, "the keys can't be read", http.StatusInternalServerError)
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/jwk-set+json")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		h.Set("Cache-Control", "public, max-age=60")
		if r.Method == http.MethodGet {
			w.Write(body)
		}
	})
}

// IdentityUse configures the identity header for one service.
type IdentityUse struct {
	// Header is the name of the header, X-Drawbridge-Identity by default. It must not be a reserved
	// one, as with [NewPassThrough].
	Header string
	// Audience is "aud": the API's name, or what the service expects.
	Audience string
	// Origin is the service; the header is sent to no other.
	Origin *url.URL
}

const defaultIdentityHeader = "X-Drawbridge-Identity"

// For returns a wrapper that sends the identity of the caller, the [auth.Principal] of the
// request's context, to one service. A request without a caller has no identity. A header with that
// name in the request, in any spelling, is removed.
func (i *Identity) For(u IdentityUse) (func(http.RoundTripper) http.RoundTripper, error) {
	at, err := parseOrigin(u.Origin)
	problems := []error{err}
	name := cmp.Or(u.Header, defaultIdentityHeader)
	problems = append(problems, checkPassedName(name))
	if u.Audience == "" {
		problems = append(problems, errors.New("credential: an identity needs an audience"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	b := &identityCache{identity: i, audience: u.Audience, maxEntries: maxCachedIdentities}
	return func(next http.RoundTripper) http.RoundTripper {
		return &identityTransport{next: next, origin: at, header: http.CanonicalHeaderKey(name), cache: b}
	}, nil
}

// identityTransport adds identities to requests.
type identityTransport struct {
	next   http.RoundTripper
	origin origin.Origin
	header string
	cache  *identityCache
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (n *identityTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !goesTo(req, n.origin) {
		return n.next.RoundTrip(req)
	}
	own := req.WithContext(req.Context()) // a shallow copy
	own.Header = cloneHeader(req.Header, n.header)
	if p := auth.FromContext(req.Context()); p != nil {
		badge, err := n.cache.header(p)
		if err != nil {
			if req.Body != nil {
				req.Body.Close() // as the interface demands
			}
			return nil, err
		}
		own.Header[n.header] = badge
		recordSent(req.Context(), withoutScheme(badge[0]))
	}
	resp, err := n.next.RoundTrip(own)
	return restoreRequest(req, resp), err
}

// cachedIdentity is a signed identity.
type cachedIdentity struct {
	header sealed[[]string] // shared by all requests
	until  time.Time
}

// maxCachedIdentities is the maximum number of cached identities per service.
const maxCachedIdentities = 10_000

// identityCache caches identities for half their lifetime. The key is the address of the principal,
// which is the same for all requests with one token and never equal for two callers.
type identityCache struct {
	identity   *Identity
	audience   string
	maxEntries int

	mu      sync.RWMutex
	entries map[*auth.Principal]*cachedIdentity
	swept   time.Time // time of the last eviction of expired entries
}

// identityClaims are the claims of an identity.
type identityClaims struct {
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	Subject  string `json:"sub,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	Scope    string `json:"scope,omitempty"`
	Provider string `json:"idp"`
	IssuedAt int64  `json:"iat"`
	Expiry   int64  `json:"exp"`
	ID       string `json:"jti"`
}

func (b *identityCache) header(p *auth.Principal) ([]string, error) {
	now := b.identity.now()
	b.mu.RLock()
	known := b.entries[p]
	b.mu.RUnlock()
	if known != nil && now.Before(known.until) {
		return known.header(), nil
	}
	text, err := b.identity.mint(p, b.audience, now)
	if err != nil {
		return nil, err
	}
	fresh := &cachedIdentity{header: seal([]string{text}), until: now.Add(b.identity.life / 2)}
	if !p.Expiry.IsZero() && p.Expiry.Before(fresh.until) {
		fresh.until = p.Expiry
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.entries == nil {
		b.entries = make(map[*auth.Principal]*cachedIdentity)
	}
	if now.Sub(b.swept) >= b.identity.life/2 || len(b.entries) >= b.maxEntries && b.entries[p] == nil {
		b.evict(now)
	}
	b.entries[p] = fresh
	return fresh.header(), nil
}

// evict removes expired entries, and with them the principals, whose claims may be large. If that
// frees too little, it removes others at random, since signing again is cheap. The caller holds
// b.mu.
func (b *identityCache) evict(now time.Time) {
	b.swept = now
	for p, known := range b.entries {
		if !now.Before(known.until) {
			delete(b.entries, p)
		}
	}
	for p := range b.entries {
		if len(b.entries) <= b.maxEntries*3/4 {
			return
		}
		delete(b.entries, p)
	}
}

func (i *Identity) mint(p *auth.Principal, audience string, now time.Time) (string, error) {
	return i.keys.sign(identityClaims{
		Issuer: i.issuer, Audience: audience, Subject: p.Subject, ClientID: p.ClientID, Scope: strings.Join(p.Scopes, " "),
		Provider: p.Issuer, IssuedAt: now.Unix(), Expiry: now.Add(i.life).Unix(), ID: rand.Text(),
	})
}
