package plan

import (
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// Set is the result of a compilation: all tools of a configuration with their plans. It is immutable.
type Set struct {
	// Catalog has the definitions of all tools that are served.
	Catalog *catalog.Catalog
	// ByTool and ByOperation are the plans.
	ByTool      map[string]*Plan
	ByOperation map[*openapi.Operation]*Plan
	// Readable names the tools that are resources, in the order of the documents.
	Readable []string
	// Unapproved gives the reason why a tool is held back for lack of approval; HeldBack are these tools, sorted by name.
	Unapproved map[*openapi.Operation]string
	HeldBack   []*catalog.Tool
	// RenamedApprovals describes the tools that are approved under their former names.
	RenamedApprovals []string
	// Unfit gives the reason why an operation is no tool although the configuration exposes it: its arguments can't be
	// changed as a rule demands.
	Unfit map[*openapi.Operation]string
	// Rejected are the settings that can't be applied, by name of the API.
	Rejected map[string]*Rejected

	units units // for the next compilation
}

// Compile compiles the plans of all tools of a configuration from the documents that its APIs have loaded so far. Each
// step returns what it has found; a plan is made at the end, of all of it. Sources whose plans can only be the same as
// those of [Options].Before are left out of all steps but the naming of tools.
func Compile(o Options) *Set {
	rejected := newRejections(o.Config, o.Logger)
	kept := keptUnits(&o)
	sources := kept.others(o.APIs.Sources)
	changed := newChangedArguments(&o, sources, rejected)
	candidates := newCandidates(&o, sources, changed, rejected)
	tools, approval := approve(&o, newCatalog(&o, candidates, kept))
	if renamed := kept.drop(tools); len(renamed) > 0 { // their tools have other names, labels or approvals
		again := newChangedArguments(&o, renamed, rejected)
		changed.add(again)
		candidates.add(newCandidates(&o, renamed, again, rejected))
		sources = kept.others(o.APIs.Sources)
	}
	drafts := newDrafts(&o, tools, candidates, rejected)
	jobs := checkJobs(&o, drafts, approval.reasons, rejected)
	caches := newCaches(&o, drafts, jobs, rejected)
	resources := newResourceTools(sources, drafts, rejected)
	headers := newResponseHeaders(sources)
	hosts := newPublicHosts(sources)
	servers := newServers(sources)
	scopes := map[*source.Source]*documentScopes{}
	set := &Set{
		Catalog: tools, Readable: resources.names, Unapproved: approval.reasons, HeldBack: approval.heldBack, RenamedApprovals: approval.renamed,
		Rejected: rejected.byAPI, Unfit: changed.unfit, ByTool: make(map[string]*Plan, len(tools.All())), ByOperation: make(map[*openapi.Operation]*Plan, len(tools.All())),
	}
	for _, t := range drafts.all {
		o.Pace.Step()
		p := newPlan(t, parts{
			metrics: o.Metrics.Call(t.definition.API, metricLabel(t.number, t.definition.Name)), number: t.number, publicURL: o.PublicURL,
			servers: servers[t.source], headers: headers[t.source], hosts: hosts[t.source], job: jobs.jobs[t.operation], polledJob: jobs.polled[t.operation],
			resource: resources.byOperation[t.operation], cache: caches.policies[t.operation], apiCached: caches.cached[t.source],
			secrets: changed.secrets.of(t), changed: changed.byOperation[t.source],
		})
		if p.Requests.InfersSlashes() {
			if scopes[t.source] == nil {
				scopes[t.source] = newDocumentScopes(o.Config, t.source, o.DefaultScopes)
			}
			p.keepApart(scopes[t.source])
		}
		set.add(p)
	}
	set.keep(&o, kept, sources, candidates)
	return set
}

func (set *Set) add(p *Plan) { set.ByTool[p.Tool.Name], set.ByOperation[p.Operation] = p, p }

// keep adds the plans of the kept units, and keeps those of the sources that were compiled for the next compilation.
func (set *Set) keep(o *Options, kept units, sources []*source.Source, candidates candidates) {
	set.units = kept
	for _, u := range kept {
		for _, p := range u.plans {
			set.add(p)
		}
		for op, reason := range u.unfit {
			set.Unfit[op] = reason
		}
		if u.rejected != nil {
			set.Rejected[u.name] = u.rejected
		}
	}
	for _, s := range sources {
		if u := newUnit(o, s, candidates, set); u != nil {
			set.units[s] = u
		}
	}
}

// hasOwnLabel reports whether the n-th tool has a label of its own in metrics: the first [telemetry.MaxToolLabels] have.
func hasOwnLabel(n int) bool { return n < telemetry.MaxToolLabels }

// metricLabel returns the label of the n-th tool in metrics.
func metricLabel(n int, name string) string {
	if !hasOwnLabel(n) {
		return telemetry.OtherTools
	}
	return name
}
