package gateway

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

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
	r.With(origins).HandleFunc("/mcp", g.serveMCP)
	// The metadata is public (RFC 9728 section 3) and has its own CORS rule (Z1).
	if g.first.guard != nil {
		for _, path := range g.first.guard.MetadataPaths() { // with the path of public_url, if it has one
			r.HandleFunc(path, g.metadata)
		}
	}
	r.HandleFunc("/.well-known/oauth-protected-resource", g.metadata)
	r.HandleFunc("/.well-known/oauth-protected-resource/mcp", g.metadata)
	r.HandleFunc("/.well-known/jwks.json", g.keys)
	return r, nil
}

// keys serves the keys that services check identities with. It needs no token: they are public (Z9).
func (g *Gateway) keys(w http.ResponseWriter, r *http.Request) {
	if identity := g.identity.Load(); identity != nil {
		identity.Keys().ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
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

type generationKey struct{}

// serveMCP fixes the generation that a request runs in, for its whole life (O3), and hands it to that generation's
// guard, which has the endpoint behind it.
func (g *Gateway) serveMCP(w http.ResponseWriter, r *http.Request) {
	gen := g.current.Load()
	if gen == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "no API is served yet", http.StatusServiceUnavailable)
		return
	}
	gen.entry.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), generationKey{}, gen)))
}

func generationFrom(ctx context.Context) *generation {
	gen, _ := ctx.Value(generationKey{}).(*generation)
	return gen
}

// metadata serves the protected resource metadata, also before the first API is served: a client may look early.
func (g *Gateway) metadata(w http.ResponseWriter, r *http.Request) {
	if guard := g.guard.Load(); guard != nil {
		guard.Metadata().ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}
