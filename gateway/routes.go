package gateway

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"drawbridge/gateway/plan"
)

// routesOptions are the handlers beside the endpoints.
type routesOptions struct {
	callback http.HandlerFunc // serves webhooks from services; the route has the parameter token
	keys     http.HandlerFunc // serves the public keys of caller identities
	metadata http.HandlerFunc // serves the protected resource metadata of RFC 9728
}

// routes returns the routes of the public listener, wrapped in its middleware.
func (s *endpointServer) routes(o routesOptions) http.Handler {
	r := chi.NewRouter()
	main := func(w http.ResponseWriter, r *http.Request) { s.dispatch(w, r, "", s.transport(r)) }
	named := func(w http.ResponseWriter, r *http.Request) {
		name := chi.URLParam(r, "endpoint")
		if name == "" {
			http.NotFound(w, r)
			return
		}
		s.dispatch(w, r, name, s.transport(r))
	}
	// People write the trailing slash, and a redirect would make clients lose their POST: both paths are one resource.
	r.HandleFunc("/mcp", main)
	r.HandleFunc("/mcp/", main)
	r.HandleFunc("/mcp/{endpoint}", named)
	r.HandleFunc("/mcp/{endpoint}/", named)
	if s.httpSSE {
		s.httpSSERoutes(r)
	}
	// Services call this route without a token: the URL that they were given is the credential (T20).
	r.With(s.screen).HandleFunc(plan.CallbackPath+"{token}", o.callback)
	// The metadata is public (RFC 9728 section 3) and has its own CORS rule (Z1).
	r.HandleFunc(protectedResource, o.metadata)
	r.HandleFunc(protectedResource+"/*", o.metadata)
	r.HandleFunc("/.well-known/jwks.json", o.keys)
	for _, path := range []string{"/.well-known/mcp/manifest", "/manifest"} {
		r.With(s.screen).HandleFunc(path, serveManifest(s.current))
	}
	return routed{r, s.middleware(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/mcp" && req.URL.RawPath == "" { // fast path: nearly all requests, without a copy for route parameters
			main(w, req)
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
