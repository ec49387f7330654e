package plan

import (
	"drawbridge/gateway/catalog"
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
}

// Compile compiles the plans of all tools of a configuration from the documents that its APIs have loaded so far. Each
// step returns what it has found; a plan is made at the end, of all of it.
func Compile(o Options) *Set {
	rejected := newRejections(o.Config, o.Logger)
	changed := newChangedArguments(&o, rejected)
	candidates := newCandidates(&o, changed.byOperation, rejected)
	tools, approval := approve(o.Lock, newCatalog(&o, candidates), candidates)
	drafts := newDrafts(&o, tools, candidates, rejected)
	jobs := checkJobs(&o, drafts, approval.reasons, rejected)
	caches := newCaches(&o, drafts, jobs, rejected)
	resources := newResourceTools(o.APIs.Sources, drafts, rejected)
	headers := newResponseHeaders(o.APIs.Sources)
	set := &Set{
		Catalog: tools, Readable: resources.names, Unapproved: approval.reasons, HeldBack: approval.heldBack, RenamedApprovals: approval.renamed,
		Rejected: rejected.byAPI, Unfit: changed.unfit, ByTool: make(map[string]*Plan, len(drafts.all)), ByOperation: make(map[*openapi.Operation]*Plan, len(drafts.all)),
	}
	for n, t := range drafts.all {
		o.Pace.Step()
		p := newPlan(t, parts{
			metrics: o.Metrics.Call(t.definition.API, metricLabel(n, t.definition.Name)), publicURL: o.PublicURL,
			headers: headers[t.source], job: jobs.jobs[t.operation], polledJob: jobs.polled[t.operation],
			resource: resources.byOperation[t.operation], cache: caches.policies[t.operation], apiCached: caches.cached[t.source],
			secrets: changed.secrets.of(t), changed: changed.byOperation,
		})
		set.ByTool[p.Tool.Name], set.ByOperation[p.Operation] = p, p
	}
	return set
}

// metricLabel returns the label of the n-th tool in metrics: only so many have one of their own.
func metricLabel(n int, name string) string {
	if n >= telemetry.MaxToolLabels {
		return telemetry.OtherTools
	}
	return name
}
