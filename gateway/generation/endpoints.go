package generation

import (
	"net/http"
	"slices"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/source"
	"drawbridge/openapi"
)

// addEndpoints builds the endpoints of a new generation, the main one with all plans first. before are those that were served
// until now, and handler returns the MCP handler of an endpoint.
func (gen *Generation) addEndpoints(d *Deployment, before *endpoint.Table, handler func(name, title, instructions string) http.Handler) {
	o := endpoint.Options{MainGuard: d.Guard, Finder: gen.Finder, Titles: titles(d.APIs), Profile: openapi.ProfileFull}
	main := o
	main.List, main.Before, main.Handler = d.Config.List(), before.Main, handler("", "", d.Config.Server.Instructions)
	gen.Main = gen.newEndpoint("", gen.ByTool, d.Guard, nil, main)
	for n := range d.Config.Endpoints {
		c := &d.Config.Endpoints[n]
		var guard *auth.Guard
		if d.Guard != nil {
			guard = d.Guard.Endpoint(n)
		}
		named := o
		named.Profile = source.Profile(c.SchemaProfile)
		named.List, named.Before, named.Handler = d.Config.ListOf(c), before.Named[c.Name], handler(c.Name, c.Title, c.Instructions)
		gen.Named[c.Name] = gen.newEndpoint(c.Name, gen.selectPlans(c, gen.ByTool), guard, c.DefaultScopes, named)
	}
}

// titles returns the titles of the documents of sources by the names of their APIs.
func titles(apis *source.Set) map[string]string {
	all := map[string]string{}
	for _, s := range apis.Sources {
		if s.Document != nil {
			all[s.Name] = s.Document.Title
		}
	}
	return all
}

// newEndpoint builds one endpoint, with the options that endpoints don't share, and its own default scopes, or nil. The faults of its prompts are added to those of
// the generation.
func (gen *Generation) newEndpoint(name string, plans map[string]*plan.Plan, guard *auth.Guard, defaults []string, o endpoint.Options) *endpoint.Endpoint {
	calls, resources := gen.callEndpoint(name, gen.tools(plans, defaults), guard), plan.NewResources(gen.Readable, plans)
	main := calls
	if gen.Main != nil {
		main = gen.Main.Endpoint
	}
	prompts, faults := (&prompt.Compiler{Endpoint: calls, Main: main, Resources: resources}).Compile(gen.Config.Prompts)
	for _, fault := range faults {
		if text := fault.Error(); !slices.Contains(gen.PromptFaults, text) {
			gen.PromptFaults = append(gen.PromptFaults, text)
		}
	}
	o.Config, o.Rates, o.Catalog, o.Resources, o.Prompts, o.Skills, o.Links = gen.Config, gen.Rates, gen.Catalog, resources, prompts, gen.skills.At(name), gen.links
	o.Files = gen.files
	o.Pinned = func(t *catalog.Tool) bool {
		return t.Operation != nil && o.List.Pinned.Match(source.Subject(t.API, t.Operation))
	}
	return endpoint.New(calls, o)
}

// tools returns the tools of an endpoint with these plans: the operations, and the workflows of which it has all steps. defaults are its own
// default scopes, or nil.
func (gen *Generation) tools(plans map[string]*plan.Plan, defaults []string) map[string]call.Tool {
	tools := make(map[string]call.Tool, len(plans))
	for name, p := range plans {
		tools[name] = call.Operation(p)
	}
	if len(defaults) == 0 {
		defaults = gen.defaultScopes()
	}
	for _, w := range gen.workflows {
		if own := w.At(plans, defaults); own != nil {
			tools[own.Name()] = own
		}
	}
	return tools
}

// callEndpoint returns the view that calls have of an endpoint.
func (gen *Generation) callEndpoint(name string, tools map[string]call.Tool, guard *auth.Guard) *call.Endpoint {
	e := call.NewEndpoint(name, gen.Config, tools, guard)
	e.Renamed = gen.Catalog.Renamed
	e.Continuation, e.AllowsCallerWebhooks = gen.jobs, gen.callerWebhooks != nil
	return e
}

// selectPlans returns the plans of a configured endpoint. They are those of the main endpoint except for scopes, for which it
// has its own defaults.
func (gen *Generation) selectPlans(c *config.MCPEndpoint, all map[string]*plan.Plan) map[string]*plan.Plan {
	plans := map[string]*plan.Plan{}
	for name, p := range all {
		subject := p.Source.Subject(p.Operation)
		if !c.Has(subject) {
			continue
		}
		if len(c.DefaultScopes) > 0 {
			p = p.WithDefaultScopes(gen.Config, c.DefaultScopes)
		}
		plans[name] = p
	}
	return plans
}

// OperatorEndpoint returns an endpoint with the tools of the main one and no guard, so that its calls need no scopes.
func (gen *Generation) OperatorEndpoint() *call.Endpoint {
	return gen.callEndpoint("", gen.Main.Tools, nil)
}
