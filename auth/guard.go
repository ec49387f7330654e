package auth

import (
	"cmp"
	"context"
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
	// URL is the issuer identifier, compared byte for byte with "iss" (T6). It
	// is https, or http on a loopback host.
	URL string
	// Tokens is the kind of its access tokens. It alone decides how one is
	// checked (T14); at most one issuer may be [Opaque].
	Tokens TokenKind
	// Introspection is how tokens of an [Opaque] issuer are asked about; it is
	// required then, and must be nil otherwise.
	Introspection *Introspection
	// Audiences are the values of which "aud" must contain one. Empty: the
	// resource identifier.
	Audiences []string
	// ClientIDs, if there are any, are the clients whose tokens are accepted: the
	// token's client must be one of them. For a token without "aud", which is
	// what some providers issue, that counts as the audience; one with "aud"
	// must have the right one all the same.
	ClientIDs []string
	// RequireClient refuses tokens that do not name their client ("client_id",
	// "azp", "cid" or "appid"), as RFC 9068 section 2.2 demands. With many
	// providers it is what tells an access token from an ID token.
	RequireClient bool
	// RequireSubject refuses tokens without "sub", as RFC 9068 section 2.2 demands.
	// Without it such a token speaks for its client, which is what some providers
	// issue to machines, and all its users would be one principal.
	RequireSubject bool
	// IDTokenClaims are the claims that only an ID token has: a token with one is
	// refused. Of "nonce", "at_hash", "c_hash" and "s_hash"; empty: all of them.
	IDTokenClaims []string
	// ScopeClaims are the claims that may hold the scopes, as a string with spaces
	// or as a list of strings. The first that a token has counts, and no other:
	// roles of a user must not add to what the user granted. One that begins with
	// '/' is a JSON Pointer, such as /realm_access/roles. Empty: "scope" and "scp",
	// both.
	ScopeClaims []string
	// MaxLifetime is the longest time between "iat" (now, if it is absent) and
	// "exp" of a token that is accepted. Zero: any, with one warning in the log
	// about tokens of more than a day (T7).
	MaxLifetime time.Duration
	// DPoP says whether tokens bound to a key of the caller are accepted, or
	// required (RFC 9449). By default they are refused (T17).
	DPoP DPoPMode
	// Algorithms are the signature algorithms allowed. Empty: RS, PS and ES with
	// 256, 384 and 512, and EdDSA; there are no others.
	Algorithms []string
	// Types are values of the "typ" header that are accepted besides "at+jwt"
	// and "application/at+jwt" (RFC 9068 section 4); "" accepts a token without one.
	Types []string
	// Skew is the difference of clocks that is tolerated. Default 60 s, at most
	// 300 s (T7).
	Skew time.Duration
	// Client fetches what this issuer publishes, for one with a private CA or
	// behind a proxy. Nil: that of the options. Only its transport is used.
	Client *http.Client
	// Earlier is the guard that is replaced, if it believed in the same publisher
	// of keys: what it has fetched from the issuer of the same URL and kind is
	// taken over, as old as it is. Nil: nothing is known before it is fetched.
	Earlier *Guard
}

// TokenKind is the kind of an issuer's access tokens.
type TokenKind uint8

// The kinds of tokens.
const (
	// JWT are tokens that the gateway verifies by itself (RFC 9068).
	JWT TokenKind = iota
	// Opaque are tokens that only the issuer can read: it is asked (RFC 7662).
	// A JWT that names the issuer is asked about too.
	Opaque
)

// Options configure a [Guard].
type Options struct {
	// Resource is the resource identifier (RFC 8707): the public URL of the
	// endpoint. Metadata and challenges come from it alone, never from a
	// request (T3).
	Resource string
	// Endpoints are the other resources of the gateway; see [Guard.Endpoint].
	Endpoints []Endpoint
	// Issuers are the authorization servers, at least one.
	Issuers []Issuer
	// DefaultScopes are what an operation without scopes of its own needs; they
	// are also what the 401 and the metadata name.
	DefaultScopes []string
	// AllowUnscoped permits empty DefaultScopes: then any valid token is enough
	// for an operation without scopes of its own (Z4).
	AllowUnscoped bool
	// Implies maps a scope to those that it includes; it is followed
	// transitively. Scopes are compared whole, never by prefix (Z5).
	Implies map[string][]string
	// KeepClaims keeps the claims of a token with its principal, for a
	// [Condition] to look at. It costs the size of the claims for each cached token.
	KeepClaims bool
	// KeepToken makes [SubjectToken] work: for token exchange and nothing else.
	KeepToken bool
	// Groups are sets of principals, which [Principal.Group] tells apart.
	Groups []Group
	// ClientAddress returns the address of the caller, however many proxies are
	// between; false if it can't be known. It bounds how many bad tokens one
	// address may have introspected. Nil: there is no such bound, only the
	// guard's own. The peer's address is not taken instead: behind a proxy it is
	// everybody's.
	ClientAddress func(*http.Request) (netip.Addr, bool)
	// BadTokens bounds the work that one address causes with tokens that are no
	// good; those that are known already, or turn out to be good, cost nothing.
	// Nil: there is no such bound.
	BadTokens *BadTokens
	// Replays remembers DPoP proofs. Nil: a [NewReplayMemory] of its own, which
	// is right for a gateway that runs once.
	Replays ReplayCache
	// NonceKeys make DPoP proofs carry a nonce of the gateway (RFC 9449 section
	// 9): the first makes nonces, all of them check; each has 32 bytes or more,
	// and replicas share them. Empty: no nonce is asked for.
	NonceKeys [][]byte
	// Client fetches discovery documents and key sets; required. Only its
	// transport is used: time, redirects and size are limited here (T13).
	Client *http.Client
	// Now is the clock. Nil: time.Now.
	Now func() time.Time
	// Refused is told why a request was not let in, in words of a closed set that hold nothing of the token, and with which status it
	// is answered. Nil: nobody is. It is called by many goroutines.
	Refused func(r *http.Request, reason string, status int)
	// Checked is told of the work for a token that is good, or could not be looked at, in the goroutine of its request. Nil: nobody is, and
	// nothing is measured. It is called by many goroutines.
	Checked func(*http.Request, Check)
	// Logger receives refusals (debug) and problems with issuers (warning), without
	// anything of a token. Nil: none.
	Logger *slog.Logger
}

// BadTokens is a limit on tokens of one address that are looked at and turn out
// to be no good; an IPv6 address counts as its /64 network.
type BadTokens struct {
	// Burst is how many there may be at once, and Interval the time for one more.
	Burst    int
	Interval time.Duration
	// Address returns whom the token of a request counts for; false: for nobody.
	Address func(*http.Request) (netip.Addr, bool)
	// Refused is called for each request that is refused for this with 429.
	Refused func(*http.Request)
}

// maxSkew bounds Issuer.Skew.
const maxSkew = 300 * time.Second

// Guard verifies tokens. It is safe for concurrent use.
type Guard struct {
	resource   *url.URL
	issuers    map[string]*issuer
	opaque     *issuer // the one with opaque tokens; nil: there is none
	proofs     *proofs // nil: no issuer takes bound tokens
	keepClaims bool
	keepToken  bool
	groups     []Group
	address    func(*http.Request) (netip.Addr, bool)
	badTokens  *badTokens // nil: they cost nobody anything
	defaults   []string
	closure    map[string]map[string]bool // scope → all that it implies
	challenges challenges
	metadata   []byte
	cache      *cache
	fetches    *fetches
	own        map[*issuer]string // what a token must be for, where there are endpoints
	endpoints  []*Guard
	now        func() time.Time
	log        *slog.Logger
	refused    func(r *http.Request, reason string, status int) // nil: nobody counts
	checked    func(*http.Request, Check)                       // nil: nobody wants to know
}

// New checks the options, reports all problems with them, and returns a guard
// that has fetched nothing by itself: [Guard.Run] or the first token does that, so
// that an authorization server that is down delays nothing (T12).
func New(o Options) (*Guard, error) {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf("auth: "+format, args...)) }
	g := &Guard{
		issuers:  make(map[string]*issuer, len(o.Issuers)),
		defaults: slices.Clone(o.DefaultScopes),
		now:      o.Now,
		cache:    &cache{},
		fetches:  &fetches{},
		refused:  o.Refused,
		checked:  o.Checked,
		log:      cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),

		keepClaims: o.KeepClaims,
		keepToken:  o.KeepToken,
		groups:     o.Groups,
		address:    o.ClientAddress,
	}
	if g.now == nil {
		g.now = time.Now
	}
	if b := o.BadTokens; b != nil {
		g.badTokens = &badTokens{BadTokens: *b, spent: addressBuckets{rate: rate{size: b.Burst, refill: b.Interval}}}
	}
	var err error
	if g.resource, err = parseResource(o.Resource); err != nil {
		problem("%w", err)
	}
	if o.Client == nil || o.Client.Transport == nil {
		problem("a client with a transport is needed to fetch keys")
		o.Client = &http.Client{}
	}
	if len(o.Issuers) == 0 {
		problem("no issuer")
	}
	for _, config := range o.Issuers {
		implied := len(config.Audiences) == 0
		if implied {
			config.Audiences = []string{o.Resource}
			for _, e := range o.Endpoints {
				config.Audiences = append(config.Audiences, e.Resource)
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
		i.implied = implied
		i.inherit(config.Earlier)
		g.issuers[config.URL] = i
		if i.asks == nil {
			continue
		}
		if g.opaque != nil {
			problem("issuers %q and %q both have opaque tokens: nothing tells whose a token is", g.opaque.url, i.url)
		}
		g.opaque = i
	}
	if g.proofs, err = newProofs(o, g.resource); err != nil {
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
	g.closure = closure(o.Implies)
	g.challenges = newChallenges(g.metadataURL(), g.defaults, g.proofs)
	g.metadata = newMetadata(o, g.proofs)
	if err := g.newEndpoints(o); err != nil {
		return nil, err
	}
	return g, nil
}

// parseResource checks a resource identifier: absolute, without fragment
// (RFC 8707 section 2), and without what has no place in one.
func parseResource(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" ||
		u.User != nil || strings.ContainsAny(s, "?# \"\\") {
		return nil, fmt.Errorf("resource identifier %q is not an http or https URL without user, query and fragment", s)
	}
	return u, nil
}

// Run keeps the keys of all issuers fresh until ctx ends, then returns nil when
// nothing is asked of an issuer any more: what requests still wait for goes on as
// long as they do, all else is given up. It is called once; its caller waits for
// it. Without it keys are fetched only when a token needs one, and removed keys are
// not noticed.
func (g *Guard) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, i := range g.issuers {
		wg.Go(func() { i.keepFresh(ctx) })
	}
	<-ctx.Done()
	g.fetches.drain()
	wg.Wait()
	return nil
}

// Status is what the guard knows of one issuer.
type Status struct {
	// Issuer is its identifier.
	Issuer string
	// Keys is the number of usable keys; none are needed for opaque tokens.
	Keys int
	// Fetched is the time of the last successful fetch of keys or, for opaque
	// tokens, of metadata; zero: there was none.
	Fetched time.Time
	// Fixed tells that nothing is ever fetched: the configuration says where to ask
	// about tokens.
	Fixed bool
	// Err is why the last fetch failed; nil if it did not.
	Err error
}

// Status returns the state of all issuers, by identifier, for the operator's
// eyes. A guard without keys still works: it asks again when a token comes.
func (g *Guard) Status() []Status {
	list := make([]Status, 0, len(g.issuers))
	for _, i := range g.issuers {
		list = append(list, i.status())
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Issuer, b.Issuer) })
	return list
}
