package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Issuer is one authorization server whose tokens are accepted.
type Issuer struct {
	// URL is the issuer identifier, compared byte for byte with "iss" (T6). It is https, or http on
	// a loopback host.
	URL string
	// Directory, if not empty, is the only accepted value of "tid": the directory of Entra ID that the issuer stands for.
	Directory string
	// Tokens is the kind of the issuer's access tokens, which alone decides how a token is verified
	// (T14). At most one issuer may be [Opaque].
	Tokens TokenKind
	// Introspection configures introspection for an [Opaque] issuer. It is required for one, and
	// must be nil otherwise.
	Introspection *Introspection
	// Audiences are the accepted audiences: "aud" must contain one of them. If empty, the resource
	// identifier is the audience.
	Audiences []string
	// ClientIDs, if not empty, restricts the accepted tokens to those of the given clients. For a
	// token without "aud", as some providers issue, the client counts as the audience; a token with
	// "aud" must still contain an accepted one.
	ClientIDs []string
	// RequireClient rejects tokens that do not name their client ("client_id", "azp", "cid" or
	// "appid"), as RFC 9068 section 2.2 demands. With many providers this distinguishes an access
	// token from an ID token.
	RequireClient bool
	// RequireSubject rejects tokens without "sub", as RFC 9068 section 2.2 demands. Otherwise a
	// token without a subject represents its client, as some providers issue to machines, and all
	// users of that client would be one principal.
	RequireSubject bool
	// IDTokenClaims are the claims that mark a token as an ID token: a token with one of them is
	// rejected. Allowed are "nonce", "at_hash", "c_hash" and "s_hash"; empty means all of them.
	IDTokenClaims []string
	// ScopeClaims are the claims that may hold the scopes, as a string with spaces or as a list of
	// strings. Only the first claim that a token has is used, so that a user's roles do not add to
	// what the user granted. A name that begins with '/' is a JSON Pointer, such as
	// /realm_access/roles. Empty means both "scope" and "scp".
	ScopeClaims []string
	// MaxLifetime is the maximum time between "iat" (now, if it is absent) and "exp" of an accepted
	// token. Zero means no limit; tokens that live for more than a day are then logged once as a
	// warning (T7).
	MaxLifetime time.Duration
	// DPoP determines whether sender-constrained tokens (RFC 9449) are accepted or required. By
	// default they are rejected (T17).
	DPoP DPoPMode
	// Algorithms are the allowed signature algorithms. Empty means RS, PS and ES with 256, 384 and
	// 512, and EdDSA; no others are supported.
	Algorithms []string
	// Types are the values of the "typ" header that are accepted besides "at+jwt" and
	// "application/at+jwt" (RFC 9068 section 4). An empty string accepts a token without "typ".
	Types []string
	// Skew is the tolerated clock skew. The default is 60 s, the maximum 300 s (T7).
	Skew time.Duration
	// Client fetches the issuer's metadata and keys, for an issuer with a private CA or behind a
	// proxy. If nil, Options.Client is used. Only its transport is used.
	Client *http.Client
	// Previous is the guard that is being replaced, if it trusted the same key publisher: keys and
	// endpoints that it has fetched from the issuer with the same URL and kind are taken over with
	// their age. If nil, everything is fetched anew.
	Previous *Guard
	// Store keeps what is fetched, for a start while the issuer is down: after the first fetch has failed, what is stored is used
	// for a day after it was fetched. If nil, nothing is kept.
	Store KeyStore
}

// TokenKind is the kind of an issuer's access tokens.
type TokenKind uint8

// Kinds of tokens.
const (
	// JWT tokens are verified by the gateway itself (RFC 9068).
	JWT TokenKind = iota
	// Opaque tokens can be read by the issuer only, and are introspected (RFC 7662). So is a JWT
	// that names the issuer.
	Opaque
)

// Options configure a [Guard].
type Options struct {
	// Resource is the resource identifier (RFC 8707): the public URL of the endpoint. Metadata and
	// challenges are derived from it alone, never from a request (T3).
	Resource string
	// Alternates are the other resource identifiers of the same endpoint, for a gateway that clients
	// reach by several names; see [Guard.Alternate].
	Alternates []string
	// SharedAudience accepts a token for one identifier of an endpoint, and a DPoP proof for it, at
	// all of them. Otherwise a token is valid only for the identifier that it names.
	SharedAudience bool
	// Endpoints are the other resources of the gateway; see [Guard.Endpoint].
	Endpoints []Endpoint
	// Issuers are the authorization servers, and APIKeys the keys that are accepted instead of their tokens. There is at least
	// one issuer or key. Without issuers there is no metadata.
	Issuers []Issuer
	APIKeys []APIKey
	// AuthorizationServers are named in the metadata instead of Issuers, if not empty: those at which clients log in, which may be in
	// front of the issuers.
	AuthorizationServers []string
	// DefaultScopes are required by an operation without scopes of its own. The 401 challenge and
	// the metadata name them too.
	DefaultScopes []string
	// AllowUnscoped permits empty DefaultScopes: any valid token then suffices for an operation
	// without scopes of its own (Z4).
	AllowUnscoped bool
	// Implies maps a scope to the scopes that it includes, transitively. Scopes are compared as a
	// whole, never by prefix (Z5).
	Implies map[string][]string
	// KeepClaims keeps a token's claims with its principal, for use by a [Condition]. It costs the
	// size of the claims for each cached token.
	KeepClaims bool
	// KeepToken enables [SubjectToken], for token exchange only.
	KeepToken bool
	// Groups are sets of principals, reported by [Principal.Group].
	Groups []Group
	// ClientAddress returns the caller's address, however many proxies are in between, or false if
	// it is unknown. It limits how many bad tokens one address may have introspected, and from where
	// an [APIKey] with addresses is accepted. If nil, there is no limit per address, only the guard's
	// own, and such keys are rejected. The peer's address is no substitute: behind a proxy it is
	// shared by all callers.
	ClientAddress func(*http.Request) (netip.Addr, bool)
	// BadTokens limits the work that one address causes with invalid tokens; cached and valid
	// tokens cost nothing. If nil, there is no limit.
	BadTokens *BadTokens
	// Replays remembers used DPoP proofs. If nil, a [NewReplayMemory] is used, which suits a
	// gateway without replicas.
	Replays ReplayCache
	// NonceKeys enable DPoP nonces (RFC 9449 section 9): the first key creates nonces, all of them
	// verify. Each has at least 32 bytes, and replicas share them. If empty, no nonce is required.
	NonceKeys [][]byte
	// Client fetches discovery documents and key sets; it is required. Only its transport is used:
	// time, redirects and size are limited here (T13).
	Client *http.Client
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// OnReject is called for each rejected request with the reason, one of a closed set that holds
	// nothing of the token, and the response status. It may be nil, and is called concurrently.
	OnReject func(r *http.Request, reason string, status int)
	// OnCheck is called with the work done for a token that is valid or could not be verified, in
	// the goroutine of the request. It may be nil, and then nothing is measured; it is called
	// concurrently.
	OnCheck func(*http.Request, Check)
	// Logger receives rejections (debug) and problems with issuers (warning), without any part of a
	// token. It may be nil.
	Logger *slog.Logger
}

// BadTokens limits the invalid tokens that are verified per client address; an IPv6 address counts
// as its /64 network.
type BadTokens struct {
	// Burst is the number of invalid tokens allowed at once, and Interval the time until one more
	// is.
	Burst    int
	Interval time.Duration
	// Address returns the address that a request's token is charged to, or false for none.
	Address func(*http.Request) (netip.Addr, bool)
	// OnReject is called for each request that this limit rejects with 429.
	OnReject func(*http.Request)
}

// maxSkew bounds Issuer.Skew.
const maxSkew = 300 * time.Second

// Guard verifies tokens and API keys. It is safe for concurrent use.
type Guard struct {
	resource         *url.URL
	issuers          map[string]*issuer
	apiKeys          map[[sha256.Size]byte]*apiKey // by hash; nil if there are none
	opaqueIssuer     *issuer                       // nil if no issuer has opaque tokens
	dpop             *proofVerifier                // nil if no issuer accepts sender-constrained tokens
	keepClaims       bool
	keepToken        bool
	groups           []Group
	clientAddress    func(*http.Request) (netip.Addr, bool)
	badTokens        *badTokenLimit // nil if there is no limit
	defaultScopes    []string
	impliedScopes    map[string]map[string]bool // scope → all scopes that it implies
	challenges       challenges
	metadata         []byte
	cache            *tokenCache
	fetches          *fetchGroup
	requiredAudience map[*issuer][]string // per issuer with implied audiences, those of which one is required here; nil with one identifier
	foreignAudiences []string             // canonical: the gateway's identifiers that are not valid here, even if an issuer's audiences name them
	alternates       []*Guard
	endpoints        []*Guard
	now              func() time.Time
	log              *slog.Logger
	onReject         func(r *http.Request, reason string, status int) // may be nil
	onCheck          func(*http.Request, Check)                       // may be nil
}

// New checks the options, reports all problems with them, and returns a guard that has fetched
// nothing yet. [Guard.Run] or the first token does that, so that an unavailable authorization
// server does not delay the start (T12).
func New(o Options) (*Guard, error) {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf("auth: "+format, args...)) }
	g := &Guard{
		issuers:       make(map[string]*issuer, len(o.Issuers)),
		defaultScopes: slices.Clone(o.DefaultScopes),
		now:           o.Now,
		cache:         &tokenCache{},
		fetches:       &fetchGroup{},
		onReject:      o.OnReject,
		onCheck:       o.OnCheck,
		log:           cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),

		keepClaims:    o.KeepClaims,
		keepToken:     o.KeepToken,
		groups:        o.Groups,
		clientAddress: o.ClientAddress,
	}
	if g.now == nil {
		g.now = time.Now
	}
	if b := o.BadTokens; b != nil {
		g.badTokens = &badTokenLimit{BadTokens: *b, buckets: addressBuckets{rate: rate{size: b.Burst, refill: b.Interval}}}
	}
	var err error
	if g.resource, err = parseResource(o.Resource); err != nil {
		problem("%w", err)
	}
	if o.Client == nil || o.Client.Transport == nil {
		problem("a client with a transport is needed to fetch keys")
		o.Client = &http.Client{}
	}
	if len(o.Issuers)+len(o.APIKeys) == 0 {
		problem("no issuer and no API key")
	}
	addIssuers(g, o, problem)
	g.addAPIKeys(o.APIKeys, problem)
	if g.dpop, err = newProofVerifier(o, g.resource); err != nil {
		problem("%w", err)
	}
	if len(o.DefaultScopes) == 0 && !o.AllowUnscoped {
		problem("no default scopes: an operation without a rule would be open to every token")
	}
	if err := checkScopes(o.DefaultScopes, o.Implies); err != nil {
		problem("%w", err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	g.impliedScopes = impliedScopes(o.Implies)
	g.challenges = newChallenges(g.accepted(), g.metadataURL(), g.defaultScopes, g.dpop)
	g.metadata = newMetadata(o, g.dpop)
	if err := g.addIdentifiers(o); err != nil {
		return nil, err
	}
	return g, nil
}

// addIssuers makes the issuers of a guard.
func addIssuers(g *Guard, o Options, problem func(format string, args ...any)) {
	for _, config := range o.Issuers {
		implied := len(config.Audiences) == 0
		if implied {
			for _, e := range o.allEndpoints() {
				config.Audiences = append(config.Audiences, e.identifiers()...)
			}
		}
		i, err := newIssuer(config, cmp.Or(config.Client, o.Client), g.fetches, g.now, g.log)
		if err != nil {
			problem("issuer %q: %w", config.URL, err)
			continue
		}
		if g.issuers[config.URL] != nil {
			problem("issuer %q is listed twice", config.URL)
		}
		i.impliedAudiences = implied
		i.inherit(config.Previous)
		g.issuers[config.URL] = i
		if i.introspector == nil {
			continue
		}
		if g.opaqueIssuer != nil {
			problem("issuers %q and %q both have opaque tokens: nothing tells whose a token is", g.opaqueIssuer.url, i.url)
		}
		g.opaqueIssuer = i
	}
}

// apiKey is a key that the guard accepts.
type apiKey struct {
	principal *Principal // the same for all requests
	addresses []netip.Prefix
}

// addAPIKeys makes the keys of a guard.
func (g *Guard) addAPIKeys(keys []APIKey, problem func(format string, args ...any)) {
	if len(keys) == 0 {
		return
	}
	g.apiKeys = make(map[[sha256.Size]byte]*apiKey, len(keys))
	for _, k := range keys {
		p := &Principal{
			Subject: k.Principal, ClientID: k.Name, Scopes: slices.Clone(k.Scopes), Groups: slices.Clone(k.Groups), Expiry: k.Expiry,
			Credential: CredentialAPIKey, id: identify("", k.Principal, k.Name),
		}
		g.assignGroup(p, nil)
		for _, hash := range k.Hashes {
			if hash == ([sha256.Size]byte{}) { // stands for a secret that a check does without
				continue
			}
			if g.apiKeys[hash] != nil {
				problem("key %q has the hash of key %q", k.Name, g.apiKeys[hash].principal.ClientID)
			}
			g.apiKeys[hash] = &apiKey{principal: p, addresses: k.Addresses}
		}
	}
}

// parseResource checks a resource identifier: an absolute URL without fragment (RFC 8707 section
// 2), user and query.
func parseResource(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
		u.User != nil || strings.ContainsAny(s, "?# \"\\") {
		return nil, fmt.Errorf("resource identifier %q is not an http or https URL without user, query and fragment", s)
	}
	return u, nil
}

// Run keeps the keys of all issuers fresh until ctx ends, then returns nil once no request to an
// issuer is in flight: those that callers still wait for continue, all others are canceled. It is
// called once, and its caller waits for it. Without Run, keys are fetched only when a token needs
// one, and removed keys go unnoticed.
func (g *Guard) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, i := range g.issuers {
		wg.Go(func() { i.refreshLoop(ctx) })
		if i.kept != nil {
			wg.Go(func() {
				i.kept.run(ctx, i.url, func(err error) {
					i.warn(ctx, "keys or metadata of issuer not stored: a start during an outage would have none", err)
				})
			})
		}
	}
	<-ctx.Done()
	g.fetches.drain()
	wg.Wait()
	return nil
}

// Status is the state of one issuer.
type Status struct {
	// Issuer is the issuer identifier.
	Issuer string
	// Keys is the number of usable keys; opaque tokens need none.
	Keys int
	// Fetched is the time of the last successful fetch of keys or, for opaque tokens, of metadata;
	// zero if there was none.
	Fetched time.Time
	// Fixed reports that nothing is ever fetched, because the introspection endpoint is configured.
	Fixed bool
	// Opaque reports that tokens are introspected.
	Opaque bool
	// Tried reports that a fetch has ended, or that there is nothing to fetch.
	Tried bool
	// Able reports that tokens can be verified: there are keys, or an introspection endpoint.
	Able bool
	// Stored reports that the keys or the endpoint are those of [Issuer].Store, because no fetch has succeeded yet.
	Stored bool
	// Err is the error of the last fetch, nil if it succeeded.
	Err error
}

// Able reports whether the guard can verify tokens after a start: each issuer was tried, and at least one has keys or an
// introspection endpoint (T12).
func (g *Guard) Able() bool {
	able := len(g.issuers) == 0 // API keys need none
	for _, i := range g.issuers {
		if !i.fixed() && !i.tried.Load() {
			return false
		}
		able = able || i.able()
	}
	return able
}

// Status returns the state of all issuers, sorted by identifier, for operators. A guard without
// keys still works: it fetches them when a token needs one.
func (g *Guard) Status() []Status {
	list := make([]Status, 0, len(g.issuers))
	for _, i := range g.issuers {
		list = append(list, i.status())
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Issuer, b.Issuer) })
	return list
}
