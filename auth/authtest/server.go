package authtest

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"drawbridge/auth/oauthserver"
	"drawbridge/openapi/origin"
)

// Options configure a [Server].
type Options struct {
	// Issuer is the issuer identifier: an http or https URL of a loopback host, with an optional
	// path, without a trailing slash. If empty, [Start] sets it.
	Issuer string
	// Address is the address on which [Start] listens, a loopback host and a port. The default is a
	// free port of 127.0.0.1.
	Address string
	// Algorithm is the signature algorithm of tokens: ES256 (default) or RS256.
	Algorithm string
	// Subject is the only user; "developer" by default.
	Subject string
	// User returns the user who is signed in in the browser of a request; Subject if nil.
	User func(*http.Request) string
	// Scopes are the scopes that can be granted, besides openid and offline_access. If empty, any
	// can.
	Scopes []Scope
	// DefaultScopes are granted if none are requested.
	DefaultScopes []string
	// Resources are the resource identifiers for which tokens are issued (RFC 8707). If empty, any
	// is accepted.
	Resources []string
	// DefaultResource is the audience of a token requested without a resource. If empty, such a
	// request is an error.
	DefaultResource string
	// Clients are the configured clients. Others can register.
	Clients []Client
	// AutoConsent approves authorization requests without a consent page, for tests.
	AutoConsent bool
	// OpaqueTokens makes access tokens random strings, for use with introspection.
	OpaqueTokens bool
	// IDTokenClaims are further claims of ID tokens, such as groups. They override the others.
	IDTokenClaims map[string]any
	// EntraID makes the server one like Entra ID. It refuses requests with a resource, since the audience is decided by the scopes: it is
	// DefaultResource. Scopes are requested by their URIs, and tokens have what follows the last slash. The token endpoint knows the
	// on-behalf-of flow, for tokens of that audience, and no token exchange. Errors have the numbers of Entra ID (AADSTS…).
	EntraID bool
	// NoRefreshTokens disables refresh tokens. A client of the TypeScript SDK v1 that has one never
	// requests more scopes: it refreshes and gives up.
	NoRefreshTokens bool
	// UnknownClients accepts unknown public clients: those that registered before a restart, and
	// those whose metadata document is on another machine, where this server does not look. Their
	// redirects go to loopback only, and always need the consent page, which warns of them.
	UnknownClients bool
	// CodeLife, AccessLife and RefreshLife are the lifetimes of codes, access tokens and refresh
	// tokens: one minute, ten minutes and a day by default. Rotated refresh tokens keep the expiry
	// of the first.
	CodeLife, AccessLife, RefreshLife time.Duration
	// Dial connects to loopback addresses to fetch client metadata documents; over TCP if nil.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// RootCAs verify the hosts of client metadata documents; the system's if nil.
	RootCAs *x509.CertPool
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Logger receives granted and rejected requests (debug), without secrets. It may be nil.
	Logger *slog.Logger
}

// Scope is a scope that can be granted.
type Scope struct {
	// Name is the scope in requests and tokens.
	Name string
	// Description is shown on the consent page.
	Description string
}

// Limits on stored data.
const (
	maxClients = 1000
	maxPending = 1000
	maxCodes   = 1000
	maxTokens  = 10_000

	maxRemembered = 200 // scopes of one consent
)

// Server is an authorization server. As an [http.Handler] it serves requests for its issuer's host
// that arrived over loopback. It is safe for concurrent use and starts no goroutine except in
// [Start].
type Server struct {
	issuer      *url.URL
	algorithm   string
	subject     string
	user        func(*http.Request) string // nil if Options.Subject is the only one
	scopes      []Scope
	defaults    []string
	resources   []string
	resource    string // default
	auto        bool
	opaque      bool
	idClaims    map[string]any
	grants      []string // grant types
	strangers   bool
	entra       bool
	codeLife    time.Duration
	accessLife  time.Duration
	refreshLife time.Duration
	documents   *http.Client
	now         func() time.Time
	log         *slog.Logger
	mux         *http.ServeMux
	style       string // the source expression of the page's style sheet
	crossOrigin *http.CrossOriginProtection
	configured  map[string]*client // configured clients

	mu         sync.Mutex
	keys       []jose.JSONWebKey // the last one signs
	registered *vault[*client]
	consented  *vault[map[string]bool] // scopes, by client and resource
	pending    *vault[*pending]        // consent pages
	codes      *vault[*code]
	refreshes  *vault[*refresh]
	issued     *vault[*issued] // access tokens
	proofs     *vault[bool]    // DPoP proofs, by key and jti
	failures   map[Endpoint]*Failure
	requests   map[Endpoint]int

	running *running // set by Start
}

var issuerPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// NewServer checks the options, reports all problems with them, and returns a server with fresh keys.
func NewServer(o Options) (*Server, error) {
	var problems []error
	s := &Server{
		algorithm: cmp.Or(o.Algorithm, ES256), subject: cmp.Or(o.Subject, "developer"), user: o.User,
		scopes: slices.Clone(o.Scopes), defaults: slices.Clone(o.DefaultScopes),
		resources: slices.Clone(o.Resources), resource: o.DefaultResource,
		auto: o.AutoConsent, opaque: o.OpaqueTokens, idClaims: maps.Clone(o.IDTokenClaims), strangers: o.UnknownClients, entra: o.EntraID,
		codeLife:    cmp.Or(o.CodeLife, time.Minute),
		accessLife:  cmp.Or(o.AccessLife, 10*time.Minute),
		refreshLife: cmp.Or(o.RefreshLife, 24*time.Hour),
		documents:   newDocumentClient(o.Dial, o.RootCAs),
		now:         o.Now, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		crossOrigin: http.NewCrossOriginProtection(),
		configured:  make(map[string]*client),
		registered:  newVault[*client](maxClients),
		consented:   newVault[map[string]bool](maxClients),
		pending:     newVault[*pending](maxPending),
		codes:       newVault[*code](maxCodes),
		refreshes:   newVault[*refresh](maxTokens),
		issued:      newVault[*issued](maxTokens),
		proofs:      newVault[bool](maxTokens),
		failures:    make(map[Endpoint]*Failure),
		requests:    make(map[Endpoint]int),
	}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	if s.issuer, err = parseIssuer(o.Issuer); err != nil {
		problems = append(problems, fmt.Errorf("authtest: %w", err))
	}
	if k, err := newKey(s.algorithm); err != nil {
		problems = append(problems, fmt.Errorf("authtest: %w", err))
	} else {
		s.keys = []jose.JSONWebKey{k}
	}
	problems = append(problems, s.checkTokens(&o), s.addClients(o.Clients))
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	s.grants = []string{oauthserver.GrantCode, oauthserver.GrantRefresh, grantClient, grantExchange}
	if s.entra {
		s.grants = []string{oauthserver.GrantCode, oauthserver.GrantRefresh, grantClient, grantBehalf}
	}
	if o.NoRefreshTokens {
		s.grants = slices.DeleteFunc(s.grants, func(g string) bool { return g == oauthserver.GrantRefresh })
	}
	s.style = oauthserver.StyleSource(consentStyle)
	s.mux = s.routes()
	return s, nil
}

// checkTokens checks what tokens can be issued for: resources, scopes and lifetimes.
func (s *Server) checkTokens(o *Options) error {
	var problems []error
	problem := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("authtest: "+format, args...))
	}
	for _, r := range append(slices.Clone(o.Resources), o.DefaultResource) {
		if r != "" && !isResource(r) {
			problem("resource %q is not an absolute URI without fragment", r)
		}
	}
	for _, scope := range o.Scopes {
		if list, p := oauthserver.ReadScopes(scope.Name); p != nil || len(list) != 1 {
			problem("%q is not a scope", scope.Name)
		}
	}
	for _, scope := range o.DefaultScopes {
		if !s.knowsScope(scope) {
			problem("default scope %q is not among the scopes", scope)
		}
	}
	for _, life := range []time.Duration{s.codeLife, s.accessLife, s.refreshLife} {
		if life < 0 {
			problem("a token can't live for %s", life)
		}
	}
	return errors.Join(problems...)
}

// addClients adds the configured clients.
func (s *Server) addClients(configs []Client) error {
	var problems []error
	for _, config := range configs {
		c, err := newClient(config)
		if err != nil {
			problems = append(problems, fmt.Errorf("authtest: client %q: %w", config.ID, err))
			continue
		}
		if s.configured[config.ID] != nil {
			problems = append(problems, fmt.Errorf("authtest: client %q is listed twice", config.ID))
		}
		s.configured[config.ID] = c
	}
	return errors.Join(problems...)
}

// parseIssuer parses an issuer identifier.
func parseIssuer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(text, "?# \"\\") || !issuerPath.MatchString(u.EscapedPath()) || u.Path != "" && path.Clean(u.Path) != u.Path {
		return nil, fmt.Errorf("issuer %q is not an http or https URL with a plain path and nothing behind it", text)
	}
	if !origin.Loopback(u.Hostname()) {
		return nil, fmt.Errorf("issuer %q is not on a loopback host: this server is for development on one machine", text)
	}
	return u, nil
}

// Issuer returns the issuer identifier.
func (s *Server) Issuer() string { return s.issuer.String() }

// url returns the URL of an endpoint.
func (s *Server) url(endpoint string) string { return s.issuer.String() + endpoint }

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	route := func(path string, e Endpoint, methods string, open bool, h http.HandlerFunc) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if open { // may be read by browser clients
				w.Header().Set("Access-Control-Allow-Origin", "*")
				w.Header().Set("Access-Control-Expose-Headers", "WWW-Authenticate")
				if r.Method == http.MethodOptions {
					w.Header().Set("Access-Control-Allow-Methods", methods)
					w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, DPoP, MCP-Protocol-Version")
					w.WriteHeader(http.StatusNoContent)
					return
				}
			}
			if !slices.Contains(strings.Split(methods, ", "), r.Method) {
				w.Header().Set("Allow", methods)
				http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
				return
			}
			if f := s.count(e); f != nil {
				f.write(w, r)
				return
			}
			h(w, r)
		})
	}
	base := s.issuer.EscapedPath()
	for _, path := range discoveryPaths(base) {
		route(path, Metadata, "GET, HEAD", true, s.serveMetadata)
	}
	route(base+pathKeys, KeySet, "GET, HEAD", true, func(w http.ResponseWriter, _ *http.Request) { oauthserver.WriteJSON(w, http.StatusOK, s.keySet()) })
	route(base+pathAuthorize, Authorization, "GET", false, s.serveAuthorize)
	route(base+pathConsent, Authorization, "POST", false, s.serveConsent)
	route(base+pathToken, TokenEndpoint, "POST", true, s.serveToken)
	route(base+pathRegister, Registration, "POST", true, s.serveRegister)
	route(base+pathRevoke, Revocation, "POST", true, s.serveRevoke)
	route(base+pathIntrospect, Introspection, "POST", false, s.serveIntrospect)
	return mux
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if reason := s.rejectForeign(r); reason != "" {
		s.log.WarnContext(r.Context(), "request refused", "reason", reason)
		http.Error(w, "this is an authorization server for development, for use on its own machine: "+reason, http.StatusForbidden)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// rejectForeign returns the reason that a request did not come from this machine, or "". The host
// is checked because a page from anywhere can make a local browser send a request (DNS rebinding).
func (s *Server) rejectForeign(r *http.Request) string {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		return "the request came in by an address that is not loopback"
	}
	if !strings.EqualFold(r.Host, s.issuer.Host) {
		return "the request is for another host than " + s.issuer.Host
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host"} {
		if r.Header[name] != nil {
			return "the request came through a proxy"
		}
	}
	return ""
}

// knowsScope reports whether a scope can be granted.
func (s *Server) knowsScope(name string) bool {
	return len(s.scopes) == 0 || name == scopeOpenID || name == scopeOffline ||
		slices.ContainsFunc(s.scopes, func(scope Scope) bool { return scope.Name == name })
}

// checkScopes parses the requested scopes, or returns the default.
func (s *Server) checkScopes(list string) ([]string, *oauthserver.Error) {
	scopes, p := oauthserver.ReadScopes(list)
	if p != nil {
		return nil, p
	}
	if len(scopes) == 0 {
		return s.defaults, nil
	}
	for _, name := range scopes {
		if !s.knowsScope(name) {
			return nil, oauthserver.NewError(oauthserver.InvalidScope, "scope '%s' is not one of this server", name)
		}
	}
	return scopes, nil
}

// checkResource returns the single requested resource (RFC 8707 section 2), or the default.
func (s *Server) checkResource(values []string) (string, *oauthserver.Error) {
	switch {
	case len(values) > 0 && s.entra:
		return "", resourceRefused(values[0])
	case len(values) > 1:
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "%d resources: a token is for one", len(values))
	case len(values) == 0 && s.resource == "":
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "no resource: name the server that the token is for")
	case len(values) == 0:
		return s.resource, nil
	case !isResource(values[0]):
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "resource '%s' is not an absolute URI without fragment", values[0])
	case len(s.resources) > 0 && !slices.Contains(s.resources, values[0]):
		return "", oauthserver.NewError(oauthserver.InvalidTarget, "resource '%s' is unknown", values[0])
	}
	return values[0], nil
}

func isResource(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "" || u.Path != "") && !strings.Contains(text, "#")
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
