package gateway

import (
	"net/http"
	"sync"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/openapi"
)

// endpoint is what is served under one URL at one moment: all tools of a generation, or those that the configuration gives
// it. It is immutable but for its views, which are made when the first client of a revision asks.
type endpoint struct {
	name    string // "" is the whole
	gen     *generation
	guard   *auth.Guard      // nil: nobody is asked for a token
	entry   http.Handler     // the guard, then the handler of the protocol
	plans   map[string]*Plan // of its tools
	visible *visibility      // nil: everybody sees all of them
	profile openapi.Profile  // the least that schemas are reduced to

	mu        sync.Mutex
	views     map[viewKey]*view
	viewBytes int // of all of them
}

// newEndpoint makes the endpoint of a generation for plans. The handler outlives the generation; a nil guard is nobody's.
func newEndpoint(gen *generation, plans map[string]*Plan, guard *auth.Guard, handler http.Handler) *endpoint {
	e := &endpoint{gen: gen, guard: guard, entry: handler, plans: plans, views: map[viewKey]*view{}}
	if guard != nil {
		e.entry = guard.Protect(handler)
		if gen.config.Auth.HideUnauthorized {
			e.visible = newVisibility(guard, gen, plans)
		}
	}
	return e
}

// part makes the endpoint of the configuration that has number n. Its plans are those of the whole but for scopes, of which
// it has its own defaults.
func (gen *generation) part(n int, d *deployment, handler http.Handler) *endpoint {
	c := &gen.config.Endpoints[n]
	plans := map[string]*Plan{}
	for name, p := range gen.whole.plans {
		subject := subjectOf(p.Tool.API, p.Operation)
		if !c.Has(subject) {
			continue
		}
		if len(c.DefaultScopes) > 0 {
			own := *p
			own.Scopes = p.source.scopesOf(p.Operation, gen.config.Settings(subject, p.source.loaded.extended.of[p.Operation]), c.DefaultScopes)
			p = &own
		}
		plans[name] = p
	}
	var guard *auth.Guard
	if d.guard != nil {
		guard = d.guard.Endpoint(n)
	}
	e := newEndpoint(gen, plans, guard, handler)
	e.name = c.Name
	if c.SchemaProfile == config.ProfilePortable {
		e.profile = openapi.ProfilePortable
	}
	return e
}
