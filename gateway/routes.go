package gateway

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"drawbridge/auth"
)

// routes returns the routes of the public listener, wrapped in its middleware.
func (g *Gateway) routes() http.Handler {
	r := chi.NewRouter()
	whole := func(w http.ResponseWriter, r *http.Request) { g.enter(w, r, &requestInfo{transport: g.transport(r)}) }
	named := func(w http.ResponseWriter, r *http.Request) {
		name := chi.URLParam(r, "endpoint")
		if name == "" {
			http.NotFound(w, r)
			return
		}
		g.enter(w, r, &requestInfo{name: name, transport: g.transport(r)})
	}
	// People write the trailing slash, and a redirect would make clients lose their POST: both paths are one resource.
	r.HandleFunc("/mcp", whole)
	r.HandleFunc("/mcp/", whole)
	r.HandleFunc("/mcp/{endpoint}", named)
	r.HandleFunc("/mcp/{endpoint}/", named)
	if g.o.Config.Server.OldTransport {
		g.oldRoutes(r)
	}
	// Services call this route without a token: the URL that they were given is the credential (T20).
	r.With(g.screened).HandleFunc(callbackPath+"{token}", g.serveCallback)
	// The metadata is public (RFC 9728 section 3) and has its own CORS rule (Z1).
	r.HandleFunc(protectedResource, g.metadata)
	r.HandleFunc(protectedResource+"/*", g.metadata)
	r.HandleFunc("/.well-known/jwks.json", g.keys)
	for _, path := range []string{"/.well-known/mcp/manifest", "/manifest"} {
		r.With(g.screened).HandleFunc(path, serveManifest(g.currentEndpoints))
	}
	return routed{r, g.middleware(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/mcp" && req.URL.RawPath == "" { // fast path: nearly all requests, without a copy for route parameters
			whole(w, req)
			return
		}
		r.ServeHTTP(w, req)
	}))}
}

// routed is a router behind middleware whose routes can still be walked.
type routed struct {
	chi.Router
	handler http.Handler
}

// ServeHTTP implements [http.Handler].
func (r routed) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.handler.ServeHTTP(w, req) }

// keys serves the public keys with which services verify identities. It requires no token, and pages may read it too
// (Z9).
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

// protectedResource is the path of the RFC 9728 metadata; the path of an endpoint is appended to it.
const protectedResource = "/.well-known/oauth-protected-resource"

// guards maps the metadata paths of all endpoints to their guards.
type guards map[string]*auth.Guard

// newGuards lists each path twice if public_url has a path, since a proxy may have stripped it.
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

// metadata serves the protected resource metadata, even before the first API is served, since a client may discover it
// early.
func (g *Gateway) metadata(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if path != protectedResource+"/" {
		path = strings.TrimSuffix(path, "/") // the endpoint is served with and without the trailing slash
	}
	if guard := (*g.guards.Load())[path]; guard != nil {
		guard.Metadata().ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}
