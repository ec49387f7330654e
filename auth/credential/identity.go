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
	"drawbridge/gateway/origin"
)

// IdentityOptions configure an [Identity].
type IdentityOptions struct {
	// Issuer is "iss": the gateway's public URL.
	Issuer string
	// Files are PEM files with one private key on P-256 each. The first signs;
	// the others are published only: the next key before it signs, and the last
	// one after it did, so that all replicas and all services have time.
	Files []string
	// Lifetime is from "iat" to "exp". Default and at most one minute, at least ten seconds.
	Lifetime time.Duration
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
}

// Identity tells services who calls them: a short JWT in a header, signed with
// ES256, that a service verifies with the keys of [Identity.Keys]. Its claims:
// iss, aud, iat, exp and jti; sub, client_id and scope of the caller's token;
// and idp, who issued that, since sub is unique for one issuer only. It is safe
// for concurrent use.
type Identity struct {
	issuer string
	life   time.Duration
	ring   *keyring
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
	if i.ring, err = newKeyring(o.Files, i.life, i.now); err != nil {
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return i, nil
}

// Problem says why a key file as it is now can't be used, while the last good
// key is; nil if nothing is wrong.
func (i *Identity) Problem() error { return i.ring.files.problem() }

// Exposed returns the key files that every user of the machine may read (E8).
func (i *Identity) Exposed() []string { return i.ring.files.exposed() }

// Keys serves the public keys (RFC 7517 section 5), to GET and HEAD. It needs no token (Z9).
func (i *Identity) Keys() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body []byte
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		_, keys, err := i.ring.look()
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

// IdentityUse says how one service is told.
type IdentityUse struct {
	// Header is the name of the header. Default: X-Drawbridge-Identity. It must
	// not be one that other requests have a use for, as with [NewPass].
	Header string
	// Audience is "aud": the API's name, or what the service expects.
	Audience string
	// Origin is the service; nobody else gets it.
	Origin *url.URL
}

const defaultIdentityHeader = "X-Drawbridge-Identity"

// For returns a wrapper that sends the identity of the caller, the
// [auth.Principal] of the request's context, to one service. A request without
// a caller has none. What a request has under the header's name already, in any
// spelling, is removed.
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
	b := &badges{identity: i, audience: u.Audience, most: maxBadges}
	return func(next http.RoundTripper) http.RoundTripper {
		return &introduction{next: next, origin: at, header: http.CanonicalHeaderKey(name), badges: b}
	}, nil
}

// introduction sends identities.
type introduction struct {
	next   http.RoundTripper
	origin origin.Origin
	header string
	badges *badges
}

// RoundTrip implements [http.RoundTripper]; req is not changed.
func (n *introduction) RoundTrip(req *http.Request) (*http.Response, error) {
	if !goesTo(req, n.origin) {
		return n.next.RoundTrip(req)
	}
	own := req.WithContext(req.Context()) // a shallow copy
	own.Header = cloneHeader(req.Header, n.header)
	if p := auth.FromContext(req.Context()); p != nil {
		badge, err := n.badges.of(p)
		if err != nil {
			if req.Body != nil {
				req.Body.Close() // as the interface demands
			}
			return nil, err
		}
		own.Header[n.header] = badge
		note(req.Context(), badge)
	}
	resp, err := n.next.RoundTrip(own)
	return without(req, resp), err
}

// badge is an identity that was made.
type badge struct {
	header sealed[[]string] // shared by all requests
	until  time.Time
}

// maxBadges is how many identities are kept for one service.
const maxBadges = 10_000

// badges keeps identities for half their life. A principal is the same value
// for all requests with one token, and its address is the key: nothing that
// could be equal for two callers.
type badges struct {
	identity *Identity
	audience string
	most     int

	mu    sync.RWMutex
	made  map[*auth.Principal]*badge
	swept time.Time // when those that have ended went last
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

func (b *badges) of(p *auth.Principal) ([]string, error) {
	now := b.identity.now()
	b.mu.RLock()
	known := b.made[p]
	b.mu.RUnlock()
	if known != nil && now.Before(known.until) {
		return known.header(), nil
	}
	text, err := b.identity.mint(p, b.audience, now)
	if err != nil {
		return nil, err
	}
	fresh := &badge{header: seal([]string{text}), until: now.Add(b.identity.life / 2)}
	if !p.Expiry.IsZero() && p.Expiry.Before(fresh.until) {
		fresh.until = p.Expiry
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made == nil {
		b.made = make(map[*auth.Principal]*badge)
	}
	if now.Sub(b.swept) >= b.identity.life/2 || len(b.made) >= b.most && b.made[p] == nil {
		b.sweep(now)
	}
	b.made[p] = fresh
	return fresh.header(), nil
}

// sweep lets go of what has ended, and of the callers with it, whose claims may be large.
// If that is little, some of the rest go too, whichever they are, since making one anew is
// cheap. The caller holds b.mu.
func (b *badges) sweep(now time.Time) {
	b.swept = now
	for p, known := range b.made {
		if !now.Before(known.until) {
			delete(b.made, p)
		}
	}
	for p := range b.made {
		if len(b.made) <= b.most*3/4 {
			return
		}
		delete(b.made, p)
	}
}

func (i *Identity) mint(p *auth.Principal, audience string, now time.Time) (string, error) {
	return i.ring.sign(identityClaims{
		Issuer: i.issuer, Audience: audience, Subject: p.Subject, ClientID: p.ClientID, Scope: strings.Join(p.Scopes, " "),
		Provider: p.Issuer, IssuedAt: now.Unix(), Expiry: now.Add(i.life).Unix(), ID: rand.Text(),
	})
}
