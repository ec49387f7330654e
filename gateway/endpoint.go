package gateway

import (
	"net/http"
	"sync"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi"
)

// endpoint is the set of tools, resources and prompts served under one URL in one generation: all of them, or those that the
// configuration selects. It is immutable except for its views, which are built when the first client of a revision requests
// them.
type endpoint struct {
	*callEndpoint
	gen     *generation
	entry   http.Handler // the guard, then the MCP handler
	rates   admission.Rates
	catalog *catalog.Catalog // of the generation, which may have more tools than the endpoint
	// resources are the plans that can be read as resources.
	resources *resources
	visible   *visibility     // nil if every caller sees all tools
	profile   openapi.Profile // the minimum profile that schemas are reduced to
	pageSize  int             // definitions on a page of a list; 0 if lists are not paged
	maxDepth  int             // nesting depth of messages (limits.max_depth)
	prompts   []*prompt       // in configuration order
	// promptScopes holds the scopes that prompts need, in their order, to find those a caller has been granted; nil if every
	// caller sees all prompts.
	promptScopes *auth.Views

	mu        sync.Mutex
	views     map[viewKey]*view
	viewBytes int // of all views
}

// newEndpoint returns the endpoint of a generation for plans. The handler outlives the generation; with a nil guard no token is
// required.
func newEndpoint(gen *generation, name string, plans map[string]*Plan, guard *auth.Guard, handler http.Handler) *endpoint {
	c := gen.config
	e := &endpoint{
		callEndpoint: newCallEndpoint(name, c, plans, guard, gen.outbound), gen: gen, entry: handler, rates: gen.rates, catalog: gen.catalog,
		resources: newResources(gen, plans), pageSize: c.Server.PageSize, maxDepth: c.Limits.MaxDepth, views: map[viewKey]*view{},
	}
	if guard != nil {
		e.entry = guard.Protect(handler)
		if e.hideUnauthorized {
			e.visible = newVisibility(guard, gen.catalog, plans)
		}
	}
	return e
}

// planOf returns the plan that a request names, or nil if there is none.
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

// part returns the n-th endpoint of the configuration. Its plans are those of the whole endpoint except for scopes, for which
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
	e := newEndpoint(gen, c.Name, plans, guard, handler)
	if c.SchemaProfile == config.ProfilePortable {
		e.profile = openapi.ProfilePortable
	}
	return e
}
