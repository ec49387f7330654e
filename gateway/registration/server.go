package registration

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/auth/oauthserver"
	"drawbridge/auth/relyingparty"
	"drawbridge/config"
	"drawbridge/gateway/state"
)

// Paths of the endpoints, below the public URL. They are the defaults of MCP 2025-03-26, whose clients drop the path of the endpoint.
const (
	metadataPath  = "/.well-known/oauth-authorization-server" // RFC 8414 section 3; the path of the public URL follows
	authorizePath = "/authorize"
	tokenPath     = "/token"
	registerPath  = "/register"
	callbackPath  = "/oauth/callback"
)

// Options are the parameters of [New].
type Options struct {
	// Config returns the configuration in use.
	Config func() *config.Config
	// Provider returns the client for requests to a provider, with SSRF protection and a limit on responses.
	Provider func(*config.Issuer) (*http.Client, error)
	// Documents returns the client that fetches client ID metadata documents. It reaches public addresses only.
	Documents func(*config.Config) *http.Client
	// Verify returns the reason that an access token for a resource is not accepted by the gateway, for the log; nil if it is.
	Verify func(ctx context.Context, resource, token string) error
	// Sealer seals the handles that clients and browsers keep. Replicas share its keys.
	Sealer relyingparty.Sealer
	// Spent remembers codes and refresh tokens that were used.
	Spent state.Once
	// Address returns the address that a request is charged to; false for none.
	Address func(*http.Request) (netip.Addr, bool)
	Log     *slog.Logger
	Now     func() time.Time
}

// Server is the handler of the authorization server. While the configuration in use has no auth.registration, it answers 404. It is safe
// for concurrent use.
type Server struct {
	o      Options
	seals  seals
	limits *limits
	routes map[string]route

	mu      sync.Mutex
	serving *generation // of the last configuration; nil before the first
}

// generation is the authorization server of one configuration. Its fields are immutable.
type generation struct {
	of     *config.Config // all of the configuration, by which a reload is noticed
	config *config.Registration
	// issuer is the public URL, without a slash at the end.
	issuer string
	path   string // of the issuer
	secure bool
	party  *relyingparty.Party
	// documents keeps the metadata documents of clients.
	documents *documents
	// resources are the resource identifiers of all endpoints; the first is the default.
	resources     []string
	defaultScopes []string
	metadata      *metadata
}

// New returns a server. It sends no request: the provider's metadata are read when the first login begins.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{o: o, seals: seals{o.Sealer, o.Now}, limits: newLimits(o.Address, o.Now)}
	s.routes = map[string]route{
		metadataPath:  {"GET, HEAD", true, s.serveMetadata},
		registerPath:  {"POST", true, s.serveRegister},
		authorizePath: {"GET, POST", false, s.serveAuthorize},
		callbackPath:  {"GET", false, s.serveCallback},
		tokenPath:     {"POST", true, s.serveToken},
	}
	return s
}

// route is an endpoint.
type route struct {
	methods string
	open    bool // pages of any origin may read it: it has no cookies
	serve   func(http.ResponseWriter, *http.Request, *generation)
}

// ServeHTTP implements [http.Handler], for paths below the public URL.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g, err := s.current()
	if err != nil {
		s.o.Log.Error("auth.registration can't be served", "error", err)
		http.Error(w, "the authorization server is not available", http.StatusServiceUnavailable)
		return
	}
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, metadataPath); ok && g != nil && (rest == g.path || rest == "/") {
		path = metadataPath
	}
	to, known := s.routes[path]
	if g == nil || !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	if to.open {
		h.Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", to.methods)
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	if !slices.Contains(strings.Split(to.methods, ", "), r.Method) {
		h.Set("Allow", to.methods)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if wait := s.limits.wait(r, path); wait > 0 {
		h.Set("Retry-After", seconds(wait))
		(&oauthserver.Error{Status: http.StatusTooManyRequests, Code: temporarilyUnavailable, Description: "too many requests from this address"}).Write(w)
		return
	}
	to.serve(w, r, g)
}

// current returns the authorization server of the configuration in use; nil if it has none.
func (s *Server) current() (*generation, error) {
	c := s.o.Config()
	if c.Auth == nil || c.Auth.Registration == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving == nil || s.serving.of != c {
		g, err := s.newGeneration(c)
		if err != nil {
			return nil, err
		}
		s.serving = g
	}
	return s.serving, nil
}

func (s *Server) newGeneration(c *config.Config) (*generation, error) {
	reg, provider := c.Auth.Registration, c.Auth.Provider()
	client, err := s.o.Provider(provider)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(c.PublicURLs()[0])
	if err != nil {
		return nil, err
	}
	g := &generation{
		of: c, config: reg, issuer: base.String(), path: base.EscapedPath(), secure: base.Scheme == "https", resources: c.Resources(), defaultScopes: c.Auth.DefaultScopes,
	}
	for _, e := range c.Endpoints {
		g.resources = append(g.resources, c.EndpointResources(e.Name)...)
	}
	g.party = relyingparty.New(relyingparty.Options{
		Client: relyingparty.Client{
			Issuer: provider.Issuer.String(), ID: reg.ClientID, Secret: reg.ClientSecret.Reveal(), RedirectURI: g.issuer + callbackPath,
			Scopes: reg.Scopes, Parameters: reg.Parameters, HTTP: client,
		},
		Sealer: s.o.Sealer, Cookie: relyingparty.Cookie{Name: "drawbridge_login", Path: g.path + callbackPath, Secure: g.secure, Parallel: true}, Now: s.o.Now,
	})
	g.documents = newDocuments(s.o.Documents(c), s.o.Now)
	g.metadata = g.newMetadata()
	return g, nil
}
