package gateway

import (
	"net/http"
	"sync"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
)

// endpoint is what is served under one URL at one moment: all tools of a generation, or those that the configuration gives
// it. It is immutable but for its views, which are made when the first client of a revision asks.
type endpoint struct {
	name  string // "" is the whole
	gen   *generation
	guard *auth.Guard      // nil: nobody is asked for a token
	entry http.Handler     // the guard, then the handler of the protocol
	plans map[string]*Plan // of its tools, and of what can only be read
	// operations are the plans by what they call.
	operations map[*openapi.Operation]*Plan
	// resources are those of plans that can be read.
	resources *resources
	visible   *visibility     // nil: everybody sees all of them
	profile   openapi.Profile // the least that schemas are reduced to
	prompts   []*prompt       // in the order of the configuration
	// promptScopes tells what callers have been granted of what prompts need, in their order; nil: everybody sees all of them.
	promptScopes *auth.Views

	mu        sync.Mutex
	views     map[viewKey]*view
	viewBytes int // of all of them
}

// newEndpoint makes the endpoint of a generation for plans. The handler outlives the generation; a nil guard is nobody's.
func newEndpoint(gen *generation, plans map[string]*Plan, guard *auth.Guard, handler http.Handler) *endpoint {
	e := &endpoint{gen: gen, guard: guard, entry: handler, plans: plans, resources: newResources(gen, plans), views: map[viewKey]*view{}}
	e.operations = make(map[*openapi.Operation]*Plan, len(plans))
	for _, p := range plans {
		e.operations[p.Operation] = p
	}
	if guard != nil {
		e.entry = guard.Protect(handler)
		if gen.config.Auth.HideUnauthorized {
			e.visible = newVisibility(guard, gen, plans)
		}
	}
	return e
}

// tool returns the plan of a tool, nil if there is none, or it can only be read.
func (e *endpoint) tool(name string) *Plan {
	if p := e.plans[name]; p != nil && !p.Tool.Hidden {
		return p
	}
	return nil
}

// planOf returns the plan that a request wants to have executed, or to be told of, nil if there is none.
func (e *endpoint) planOf(req *mcp.Request) (p *Plan) {
	switch req.Method {
	case "tools/call":
		return e.tool(req.Name)
	case "resources/read":
		p, _ = e.toRead(req.URI, req.Principal)
	case "resources/subscribe":
		p, _ = e.resources.find(req.URI)
	case "completion/complete":
		if asked, err := req.Completion(); err == nil && asked.Prompt == "" {
			p = e.resources.named(asked.Resource)
		}
	}
	return p
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
