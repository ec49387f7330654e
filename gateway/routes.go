package gateway

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"drawbridge/auth"
)

// routes returns the routes of the public listener, behind its middleware.
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
	// People write the slash at the end that a redirect would cost clients their POST for: both are one resource.
	r.HandleFunc("/mcp", whole)
	r.HandleFunc("/mcp/", whole)
	r.HandleFunc("/mcp/{endpoint}", named)
	r.HandleFunc("/mcp/{endpoint}/", named)
	if g.o.Config.Server.OldTransport {
		g.oldRoutes(r)
	}
	// Services call here, without a token of their own: the URL is what they were given (T20).
	r.With(g.screened).HandleFunc(callbackPath+"{token}", g.serveCallback)
	// The metadata is public (RFC 9728 section 3) and has its own CORS rule (Z1).
	r.HandleFunc(protectedResource, g.metadata)
	r.HandleFunc(protectedResource+"/*", g.metadata)
	r.HandleFunc("/.well-known/jwks.json", g.keys)
	for _, path := range []string{"/.well-known/mcp/manifest", "/manifest"} {
		r.With(g.screened).HandleFunc(path, g.serveManifest)
	}
	return routed{r, g.middleware(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/mcp" && req.URL.RawPath == "" { // nearly all requests: they need no copy with the names of a route in it
			whole(w, req)
			return
		}
		r.ServeHTTP(w, req)
	}))}
}

// routed is a router behind middleware; the routes can still be walked.
type routed struct {
	chi.Router
	handler http.Handler
}

// ServeHTTP implements [http.Handler].
func (r routed) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.handler.ServeHTTP(w, req) }

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
	path := r.URL.Path
	if path != protectedResource+"/" {
		path = strings.TrimSuffix(path, "/") // the endpoint is served with and without it
	}
	if guard := (*g.guards.Load())[path]; guard != nil {
		guard.Metadata().ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}
