package gateway

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/report"
	"drawbridge/gateway/source"
	"drawbridge/gateway/task"
)

// generation is an immutable snapshot of everything that is served at one moment: the catalog, the plans and the
// endpoints. Only the views of its endpoints change.
type generation struct {
	*endpoint.Table
	*plan.Set
	config *config.Config
	inUse  *configInUse
	rates  admission.Rates
	// outbound sends webhooks to callers; nil if they are off.
	outbound *task.CallerWebhooks
	jobs     call.Continuation      // of calls
	fates    map[string]*report.API // operation results, by API name
	// documents maps the names of APIs to the locations of the documents that were read.
	documents map[string]string
	links     *mcp.SealedHandles
	finder    *embedding.Finder // of tools
	// updated is when the list of tools last changed.
	updated time.Time
	// promptFaults lists the reasons why prompts are not served, with their positions.
	promptFaults []string
	// clashes describes the names that depend on whether other documents can be read.
	clashes []string
	// selectors lists the selectors of the configuration that match nothing.
	selectors source.SelectorResult
	// entries maps each source to its configuration entry, such as apis[0].
	entries map[*source.Source]string
}

// build builds a generation from the documents that the deployment's sources have loaded so far.
func (g *Gateway) build(d *deployment) *generation {
	clashes := d.apis.NameSources()
	selectors := d.apis.CheckSelectors()
	gen := &generation{
		Table: &endpoint.Table{Screening: d.inUse.endpoints.Screening, Named: map[string]*endpoint.Endpoint{}}, config: d.config, inUse: d.inUse, rates: d.rates, outbound: d.outbound, jobs: &task.Continuation{Tasks: g.tasks, Webhooks: d.outbound},
		fates: map[string]*report.API{}, documents: map[string]string{}, links: g.links, selectors: selectors, entries: d.apis.Entries,
	}
	gen.Set = plan.Compile(g.compileOptions(d))
	gen.clashes = append(clashes, clashesOf(gen.Catalog)...)
	for _, s := range d.apis.Sources {
		if s.Document != nil {
			gen.documents[s.Name] = s.Config.Spec.String()
			gen.fates[s.Name] = report.New(s, report.Options{
				Config: d.config, Entry: gen.entries[s], Plans: gen.Set, Pace: g.admission.pace,
				Access: func(p *plan.Plan) *admin.ToolAccess { return gen.access().Access(p) },
			})
		}
	}
	gen.finder = g.embeddings.NewFinder(d.config.Embeddings(), gen.Catalog.All())
	gen.addEndpoints(d, g.currentEndpoints(), func(name, title, instructions string) http.Handler {
		return g.mcpHandlers.Named(name, title, instructions)
	})
	if slices.ContainsFunc(d.apis.Sources, func(s *source.Source) bool { return !s.Tried }) {
		gen.promptFaults = nil // their tools may still be loaded
	}
	return gen
}

// access returns what reports how the tools of the generation can be reached.
func (gen *generation) access() *report.AccessReporter {
	return &report.AccessReporter{Config: gen.config, Entries: gen.entries, HasGuard: gen.Main.Guard != nil}
}

// compileOptions returns the parameters of the compilation of a deployment's plans.
func (g *Gateway) compileOptions(d *deployment) plan.Options {
	o := plan.Options{
		Config: d.config, APIs: d.apis, Count: d.apiCount(), Conditions: d.conditions, Programs: d.programs, Lock: d.lock, GuessedJob: g.guessedJob, PublicURL: g.base,
		Pace: g.admission.pace, Metrics: g.metrics, Logger: g.log,
	}
	if d.guard != nil {
		o.DefaultScopes = d.config.Auth.DefaultScopes
	}
	return o
}

// publish builds a generation of the deployment and makes it the current one, if there is anything to serve.
// newest tells why a newer configuration is not in use. Only one goroutine at a time calls publish.
func (g *Gateway) publish(d *deployment, newest notInUse) {
	g.use(d.inUse)
	g.answers.Resize(int64(d.config.Limits.Cache))
	if g.shared.answers != nil {
		g.shared.answers.Resize(int64(d.config.Limits.Cache))
	}
	g.guards.Store(endpoint.NewMetadataGuards(d.config, d.guard))
	g.identity.Store(d.identity)
	allTried := !slices.ContainsFunc(d.apis.Sources, func(s *source.Source) bool { return !s.Tried })
	if allTried {
		defer g.isAttempted.Do(func() { close(g.attempted) })
	}
	old := g.current.Load()
	served := slices.ContainsFunc(d.apis.Sources, func(s *source.Source) bool { return s.Document != nil })
	if !served && old == nil {
		g.setStatus(nil, d, newest)
		return
	}
	before := g.currentEndpoints()
	gen := g.build(d)
	gen.updated = time.Now()
	var diff catalog.Diff
	if old != nil {
		if diff = gen.Catalog.Diff(old.Catalog); diff.Empty() {
			gen.updated = old.updated
		}
	}
	if d.config.Server.Manifest {
		gen.Manifest = endpoint.NewManifest(gen.Main, d.config, g.o.Version, gen.updated)
	}
	g.current.Store(gen)
	g.mcpHandlers.Retain(d.config)
	if old != nil && old.Main.Guard != gen.Main.Guard {
		g.mcpHandlers.DisconnectAll() // sessions may belong to tokens that the new guard does not accept (H9)
	}
	g.mcpHandlers.ListsChanged(mcp.ToolsList | mcp.ResourcesList | mcp.PromptsList)
	gen.ReportLists(g.log, g.metrics, before)
	g.logFates(gen, old)
	g.logPrompts(gen, old)
	g.logClashes(gen, old)
	g.logSelectors(gen, old)
	g.logHeldBack(gen, old)
	if old != nil {
		g.logDiff(diff, gen, old)
		for _, name := range diff.Removed {
			old.Main.Plans[name].Metrics.Forget() // documents come and go; the metrics of their tools must not accumulate
		}
	}
	g.setStatus(gen, d, newest)
	g.isServed.Do(func() { close(g.serving) }) // after setStatus, because a waiter may read the status
	if gen.Searches() && allTried {
		gen.finder.Index() // before the first client waits for it
	}
}

// logFates logs the operation results of each document once.
func (g *Gateway) logFates(gen, old *generation) {
	for _, name := range slices.Sorted(maps.Keys(gen.fates)) {
		f := gen.fates[name]
		if old != nil && old.fates[name] != nil && old.fates[name].IsSame(f) {
			continue
		}
		g.log.Info("operations", "api", name, "total", f.Counts.Total, "exposed", f.Counts.Exposed, "changed", f.Counts.Changed, "excluded", f.Counts.Excluded, "held", f.Counts.HeldBack,
			"skipped", f.Counts.Skipped, "problem_codes", report.CodeList(f.Problems), "skip_codes", report.CodeList(f.Skips))
	}
}

// logDiff logs the changes of the list of tools (S10). Tools that have become destructive are named in a separate
// warning, except those of a document that is read for the first time: at startup each document is, one after the
// other, and a document that could not be read is again once it can be.
func (g *Gateway) logDiff(diff catalog.Diff, next, old *generation) {
	if diff.Empty() {
		return
	}
	g.log.Info("tools changed", "added", len(diff.Added), "removed", len(diff.Removed), "changed", len(diff.Changed),
		"added_tools", first(diff.Added), "removed_tools", first(diff.Removed), "changed_tools", first(diff.Changed))
	var destructive []string
	for _, name := range slices.Concat(diff.Added, diff.Changed) {
		tool, before := next.Catalog.Lookup(name), old.Catalog.Lookup(name)
		if tool.Annotations.Destructive && (before == nil || !before.Annotations.Destructive) && old.knows(tool.API, next.documents[tool.API]) {
			destructive = append(destructive, name)
		}
	}
	if len(destructive) > 0 {
		g.log.Warn("new destructive tools", "count", len(destructive), "tools", first(destructive))
	}
}

// knows reports whether an API of that name, or of a document from that location, was served: an API is renamed when
// its document changes its title.
func (gen *generation) knows(api, document string) bool {
	if _, ok := gen.documents[api]; ok {
		return true
	}
	for _, location := range gen.documents {
		if location == document {
			return true
		}
	}
	return false
}

// first returns the first 20 names of a list, for the log.
func first(names []string) []string { return names[:min(len(names), 20)] }

// setStatus publishes the status for operators. It deletes the metric series of APIs that are gone or were renamed
// after their document: an alert on a state that is never updated would never end.
func (g *Gateway) setStatus(gen *generation, d *deployment, newest notInUse) {
	s := admin.Status{Ready: g.ready(gen, d), Config: admin.Config{LoadedAt: d.loadedAt, Error: newest.refused, Opens: newest.opens, PassedOver: d.apis.Fragments}}
	if gen != nil {
		s.Config.Prompts, s.Config.Clashes, s.Config.Selectors = gen.promptFaults, gen.clashes, gen.selectors.Texts()
		for _, t := range gen.Catalog.All() {
			g.admission.pace.Step()
			if !t.Hidden {
				s.Tools++
			}
		}
	}
	before := g.measured
	g.measured = map[string]*report.API{}
	for _, src := range d.apis.Sources {
		a := src.Status()
		var f *report.API
		if gen != nil && gen.fates[a.Name] != nil {
			f = gen.fates[a.Name]
			f.Describe(&a)
		}
		g.measured[a.Name] = f
		if f != before[a.Name] {
			g.metrics.SetOperations(a.Name, f.Counted(), before[a.Name].Counted())
		}
		s.APIs = append(s.APIs, a)
		g.metrics.API(&a, src.CertificateExpiry())
	}
	for name := range before {
		if _, ok := g.measured[name]; !ok {
			g.metrics.ForgetAPI(name)
		}
	}
	g.traffic.Store(trafficOf(d))
	g.status.Store(&s)
}
