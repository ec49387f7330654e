package gateway

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
)

// routes is the public surface, with its middleware in order.
func (g *Gateway) routes() (http.Handler, error) {
	c := g.o.Config
	// Host and Origin come first: a foreign page must not even learn whether a token is needed (H1, H2). A CORS
	// preflight is answered here too, since it carries no token (H3).
	origins, err := mcp.Origins(mcp.OriginOptions{
		Hosts: c.Hosts(), Origins: c.Origins(), Loopback: c.Server.Listen.Loopback(),
	})
	if err != nil {
		return nil, err
	}
	r := chi.NewRouter()
	r.Use(g.secured)
	r.With(origins).HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { g.serveMCP(w, r, "") })
	r.With(origins).HandleFunc("/mcp/{endpoint}", func(w http.ResponseWriter, r *http.Request) {
		g.serveMCP(w, r, chi.URLParam(r, "endpoint"))
	})
	if c.Server.OldTransport {
		g.oldRoutes(r.With(origins))
	}
	// The metadata is public (RFC 9728 section 3) and has its own CORS rule (Z1).
	r.HandleFunc(protectedResource, g.metadata)
	r.HandleFunc(protectedResource+"/*", g.metadata)
	r.HandleFunc("/.well-known/jwks.json", g.keys)
	for _, path := range []string{"/.well-known/mcp/manifest", "/manifest"} {
		r.With(origins).HandleFunc(path, g.serveManifest)
	}
	return r, nil
}

// keys serves the keys that services check identities with. It needs no token: they are public (Z9), to pages too.
func (g *Gateway) keys(w http.ResponseWriter, r *http.Request) {
	identity := g.identity.Load()
	if identity == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
		h.Set("Access-Control-Allow-Methods", "GET, HEAD")
		h.Set("Access-Control-Max-Age", "86400")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	identity.Keys().ServeHTTP(w, r)
}

// secured sets the headers of every answer (H12), and asks clients to leave while the gateway drains (O5).
func (g *Gateway) secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["X-Content-Type-Options"] = nosniff
		h["Cache-Control"] = noStore
		h["Content-Security-Policy"] = noSources
		if g.draining.Load() {
			h.Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Header values that are the same for every answer; they are never written to.
var (
	nosniff   = []string{"nosniff"}
	noStore   = []string{"no-store"}
	noSources = []string{"default-src 'none'"}
)

// visit is one request's: where it goes. It is of the request's goroutine.
type visit struct {
	name      string
	endpoint  *endpoint   // nil once the request has become a stream of changes
	operator  bool        // who runs the program calls, and may call everything
	header    http.Header // of the request; nil where there is none
	transport transport   // which the speaker has several of
}

type visitKey struct{}

// serveMCP fixes the generation that a request runs in, for its whole life (O3), and hands it to that generation's
// guard, which has the endpoint behind it.
func (g *Gateway) serveMCP(w http.ResponseWriter, r *http.Request, name string) {
	g.serve(w, r, &visit{name: name, transport: g.transport(r)})
}

// serve is serveMCP for a transport.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request, v *visit) {
	gen := g.current.Load()
	if gen == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "no API is served yet", http.StatusServiceUnavailable)
		return
	}
	if v.endpoint = gen.endpoint(v.name); v.endpoint == nil {
		http.NotFound(w, r)
		return
	}
	v.header = r.Header
	v.endpoint.entry.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
}

func visitFrom(ctx context.Context) *visit {
	return ctx.Value(visitKey{}).(*visit) //nolint:errcheck // serveMCP has put it there
}

func endpointFrom(ctx context.Context) *endpoint {
	return visitFrom(ctx).endpoint
}

// protectedResource is where the metadata of RFC 9728 stands, that of an endpoint with its path behind it.
const protectedResource = "/.well-known/oauth-protected-resource"

// guards are the guards of all endpoints by the paths of their metadata.
type guards map[string]*auth.Guard

// newGuards lists each path twice where public_url has one: a proxy may have taken it off.
func newGuards(d *deployment) *guards {
	all := guards{}
	if d.guard == nil {
		return &all
	}
	for n, e := range d.config.Endpoints {
		guard := d.guard.Endpoint(n)
		all[guard.MetadataPaths()[0]], all[protectedResource+"/mcp/"+e.Name] = guard, guard
	}
	for _, path := range append(d.guard.MetadataPaths(), protectedResource, protectedResource+"/mcp") {
		all[path] = d.guard
	}
	return &all
}

// metadata serves the protected resource metadata, also before the first API is served: a client may look early.
func (g *Gateway) metadata(w http.ResponseWriter, r *http.Request) {
	if guard := (*g.guards.Load())[r.URL.Path]; guard != nil {
		guard.Metadata().ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}
