package gateway

import (
	"net/http"
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// addEndpoints builds the endpoints of a new generation, the main one with all plans first. handler returns the MCP handler of
// an endpoint.
func (gen *generation) addEndpoints(d *deployment, handler func(name, title, instructions string) http.Handler) {
	gen.Main = gen.newEndpoint("", gen.ByTool, d.guard, d.guard, openapi.ProfileFull, handler("", "", d.config.Server.Instructions))
	for n := range d.config.Endpoints {
		c := &d.config.Endpoints[n]
		var guard *auth.Guard
		if d.guard != nil {
			guard = d.guard.Endpoint(n)
		}
		profile := openapi.ProfileFull
		if c.SchemaProfile == config.ProfilePortable {
			profile = openapi.ProfilePortable
		}
		gen.Named[c.Name] = gen.newEndpoint(c.Name, gen.selectPlans(c, gen.ByTool), guard, d.guard, profile, handler(c.Name, c.Title, c.Instructions))
	}
}

// newEndpoint builds one endpoint. The faults of its prompts are added to those of the generation.
func (gen *generation) newEndpoint(name string, plans map[string]*plan.Plan, guard, mainGuard *auth.Guard, profile openapi.Profile, handler http.Handler) *endpoint.Endpoint {
	calls, resources := gen.callEndpoint(name, plans, guard), plan.NewResources(gen.Readable, plans)
	main := calls
	if gen.Main != nil {
		main = gen.Main.Endpoint
	}
	prompts, faults := (&prompt.Compiler{Endpoint: calls, Main: main, Resources: resources}).Compile(gen.config.Prompts)
	for _, fault := range faults {
		if text := fault.Error(); !slices.Contains(gen.promptFaults, text) {
			gen.promptFaults = append(gen.promptFaults, text)
		}
	}
	return endpoint.New(calls, endpoint.Options{
		Config: gen.config, MainGuard: mainGuard, Handler: handler, Rates: gen.rates, Catalog: gen.Catalog, Resources: resources, Prompts: prompts,
		Links: gen.links, Profile: profile,
	})
}

// callEndpoint returns the view that calls have of an endpoint.
func (gen *generation) callEndpoint(name string, plans map[string]*plan.Plan, guard *auth.Guard) *call.Endpoint {
	e := call.NewEndpoint(name, gen.config, plans, guard)
	e.Continuation, e.AllowsCallerWebhooks = gen.jobs, gen.outbound != nil
	return e
}

// selectPlans returns the plans of a configured endpoint. They are those of the main endpoint except for scopes, for which it
// has its own defaults.
func (gen *generation) selectPlans(c *config.MCPEndpoint, all map[string]*plan.Plan) map[string]*plan.Plan {
	plans := map[string]*plan.Plan{}
	for name, p := range all {
		subject := source.Subject(p.Tool.API, p.Operation)
		if !c.Has(subject) {
			continue
		}
		if len(c.DefaultScopes) > 0 {
			own := *p
			own.Scopes = p.Source.Document.Scopes(p.Operation, &p.Source.Config, gen.config.Settings(subject, p.Source.Document.Extensions.Settings[p.Operation]), c.DefaultScopes)
			p = &own
		}
		plans[name] = p
	}
	return plans
}

// operatorEndpoint returns an endpoint with the tools of the main one and no guard, so that its calls need no scopes.
func (gen *generation) operatorEndpoint() *endpoint.Endpoint {
	return endpoint.New(gen.callEndpoint("", gen.Main.Plans, nil), endpoint.Options{
		Config: gen.config, Rates: gen.rates, Catalog: gen.Catalog, Resources: gen.Main.Resources, Links: gen.links,
	})
}
