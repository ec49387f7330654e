package gateway

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/job"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
)

// generation is everything that is served at one moment. It is immutable but for the views of its endpoints.
type generation struct {
	config    *config.Config
	screening *screening
	// unapproved tells of operations why their tools, heldBack, are held back.
	unapproved map[*openapi.Operation]string
	heldBack   []*catalog.Tool
	// renamed are the tools that are approved under their former names, in words.
	renamed []string
	catalog *catalog.Catalog
	whole   *endpoint // /mcp, which has all tools
	rates   admission.Rates
	parts   map[string]*endpoint // the others, by name
	// outbound calls callers; nil: nobody may ask for it.
	outbound *outbound
	fates    map[string]*fates // by the name of the API
	// documents are the locations of the documents that were read, by the name of the API.
	documents map[string]string
	// readable are the names of the tools that are resources, in the order of the documents.
	readable  []string
	unusables map[string]*unusable // by the name of the API
	links     *mcp.SealedHandles
	// updated is when its tools became what they are.
	updated   time.Time
	manifests *manifests // nil: they are not served
	// promptFaults are what keeps prompts from being had, with their places.
	promptFaults []string
	// clashes tell which names depend on whether other documents can be read.
	clashes []string
	// selectors are those of the configuration that match nothing.
	selectors selectorResult
	// entries are the entries of apis that the sources come from, such as apis[0].
	entries map[*source]string
}

// endpoint returns the endpoint of that name, that of the whole if it is "", nil if there is none.
func (gen *generation) endpoint(name string) *endpoint {
	if name == "" {
		return gen.whole
	}
	return gen.parts[name]
}

// build makes a generation of what the deployment's sources have loaded so far.
func (g *Gateway) build(d *deployment) *generation {
	clashes := d.nameSources()
	former := d.formerNames()
	selectors := d.checkSelectors()
	gen := &generation{config: d.config, rates: d.rates, screening: d.screening, outbound: d.outbound, parts: map[string]*endpoint{}, fates: map[string]*fates{}, documents: map[string]string{}, unusables: map[string]*unusable{}, links: g.links, selectors: selectors, entries: d.selectors.entries}
	plans := map[string]*Plan{}
	settings := map[*openapi.Operation]config.Settings{}
	elicitations := map[*openapi.Operation]*elicit.Operation{}
	jobs, keys := map[*openapi.Operation]*job.Definition{}, map[*openapi.Operation]*requestKey{}
	var apis []catalog.API
	for _, s := range d.sources {
		if s.loaded == nil {
			continue
		}
		apis = append(apis, catalog.API{Name: s.name, Former: former[s], Operations: s.loaded.api.Operations,
			Choose: func(op *openapi.Operation) (catalog.Choice, bool) {
				subject := subjectOf(s.name, op)
				if !s.config.Exposes(subject) {
					return catalog.Choice{}, false
				}
				set := d.config.Settings(subject, s.loaded.extended.of[op])
				settings[op] = set
				choice := catalog.Choice{
					Name: set.Name, Title: set.Title, Description: set.Description,
					Hidden:       set.Resource.On() && !set.Resource.Tool && op.Method == http.MethodGet,
					ParamHeaders: paramHeaders(op, set.ParamHeaders),
					Shapeless:    set.Progress.On() && set.Progress.Result != "",
				}
				given := op
				if jobs[op] = gen.jobOf(g, s, op, set); jobs[op].Callback != nil {
					given = jobs[op].Callback.Given
					choice.Shown = given
				}
				if keys[op] = gen.keyOf(g, s, op, given, set); keys[op] != nil && keys[op].given != nil {
					given = keys[op].given
					choice.Shown = given
				}
				if len(set.Inputs) > 0 {
					if elicitations[op] = gen.elicitationOf(g, s, op, given, set.Inputs); elicitations[op] != nil {
						choice.Shown = elicitations[op].Shown()
					}
				}
				return choice, true
			}})
	}
	gen.catalog = catalog.Build(apis, catalog.Options{
		Prefix: prefix(d.config.Tools.Prefix), APIs: d.apis(), MaxName: d.config.Tools.MaxName, Pace: g.admission.pace,
	})
	gen.clashes = append(clashes, clashesOf(gen.catalog)...)
	sources := map[string]*source{}
	for _, s := range d.sources {
		sources[s.name] = s
	}
	gen.holdBack(d.lock, sources)
	var defaults []string
	if d.guard != nil {
		defaults = d.config.Auth.DefaultScopes
	}
	labels, byOperation := 0, map[*openapi.Operation]*Plan{}
	for _, t := range gen.catalog.All() {
		g.admission.pace.Step()
		label := t.Name
		if labels++; labels > telemetry.MaxToolLabels {
			label = telemetry.OtherTools
		}
		p := g.newPlan(d, sources[t.API], t, settings[t.Operation], defaults)
		p.elicitation, p.job, p.key = elicitations[t.Operation], jobs[t.Operation], keys[t.Operation]
		p.drop = gen.droppedOf(g, sources[t.API], t, p.shown())
		p.repeat = repeatOf(settings[t.Operation], p.key)
		p.metrics = g.metrics.Call(t.API, label)
		gen.unrepeated(g, sources[t.API], t, settings[t.Operation].ParamHeaders)
		if len(p.Scopes) == 0 {
			g.log.Warn("no token can have the scopes that the document asks for; give them others with scope_map",
				"api", t.API, "tool", t.Name, "method", t.Operation.Method, "path", t.Operation.Path)
		}
		plans[t.Name], byOperation[t.Operation] = p, p
	}
	gen.giveHeaders(byOperation)
	gen.settleJobs(g, d, byOperation)
	gen.keepAnswers(g, byOperation, settings)
	gen.makeReadable(g, d, byOperation, settings)
	for _, s := range d.sources {
		if s.loaded != nil {
			gen.documents[s.name] = s.config.Spec.String()
			gen.fates[s.name] = newFates(s, gen.catalog.All(), d.config.Tools.MaxName, byOperation, gen.unusables[s.name], gen.unapproved)
			gen.fates[s.name].access = func(op *openapi.Operation) *admin.ToolAccess { return gen.access(byOperation[op]) }
			gen.fates[s.name].faults = gen.faults(gen.fates[s.name], gen.entries[s])
		}
	}
	gen.whole = newEndpoint(gen, plans, d.guard, g.mcpHandlers.whole(d.config))
	gen.addPrompts(gen.whole)
	for n := range d.config.Endpoints {
		c := &d.config.Endpoints[n]
		gen.parts[c.Name] = gen.part(n, d, g.mcpHandlers.of(c.Name, c.Title, c.Instructions))
		gen.addPrompts(gen.parts[c.Name])
	}
	if slices.ContainsFunc(d.sources, func(s *source) bool { return !s.tried }) {
		gen.promptFaults = nil // their tools may come
	}
	return gen
}

// base returns where the operation's calls go; nil if nobody said.
func (s *source) base(op *openapi.Operation) *url.URL {
	if s.config.BaseURL != nil {
		return s.config.BaseURL.URL()
	}
	return op.Base
}

func prefix(p config.Prefix) catalog.Prefix {
	switch p {
	case config.PrefixAlways:
		return catalog.Always
	case config.PrefixNever:
		return catalog.Never
	case config.PrefixAuto:
	}
	return catalog.Auto
}

// publish builds a generation of the deployment and makes it the current one, if there is anything to serve.
// configError tells why a newer configuration is not in use. Only one goroutine at a time calls it.
func (g *Gateway) publish(d *deployment, configError string) {
	g.use(d.screening)
	g.answers.Resize(int64(d.config.Limits.Cache))
	if g.shared.answers != nil {
		g.shared.answers.Resize(int64(d.config.Limits.Cache))
	}
	g.guards.Store(newGuards(d))
	g.identity.Store(d.identity)
	if !slices.ContainsFunc(d.sources, func(s *source) bool { return !s.tried }) {
		defer g.isAttempted.Do(func() { close(g.attempted) })
	}
	old := g.current.Load()
	served := slices.ContainsFunc(d.sources, func(s *source) bool { return s.loaded != nil })
	if !served && old == nil {
		g.setStatus(nil, d, configError)
		return
	}
	gen := g.build(d)
	gen.updated = time.Now()
	var diff catalog.Diff
	if old != nil {
		if diff = gen.catalog.Diff(old.catalog); diff.Empty() {
			gen.updated = old.updated
		}
	}
	if d.config.Server.Manifest {
		gen.manifests = newManifests(g, gen.whole)
	}
	g.current.Store(gen)
	g.mcpHandlers.settle(d.config)
	if old != nil && old.whole.guard != gen.whole.guard {
		g.mcpHandlers.restart() // whose token counted may be nobody now (H9)
	}
	g.mcpHandlers.changed(mcp.ToolsList | mcp.ResourcesList | mcp.PromptsList)
	g.logFates(gen, old)
	g.logPrompts(gen, old)
	g.logClashes(gen, old)
	g.logSelectors(gen, old)
	g.logHeldBack(gen, old)
	if old != nil {
		g.logDiff(diff, gen, old)
		for _, name := range diff.Removed {
			old.whole.plans[name].metrics.Forget() // documents come and go; what counts their tools must not grow for ever
		}
	}
	g.setStatus(gen, d, configError)
	g.isServed.Do(func() { close(g.serving) }) // whoever waits for it may look at the status
}

// logFates tells once what became of each document.
func (g *Gateway) logFates(gen, old *generation) {
	for _, name := range slices.Sorted(maps.Keys(gen.fates)) {
		f := gen.fates[name]
		if old != nil && old.fates[name] != nil && old.fates[name].api == f.api && old.fates[name].counts == f.counts {
			continue
		}
		g.log.Info("operations", "api", name, "total", f.counts.Total, "exposed", f.counts.Exposed, "changed", f.counts.Changed, "excluded", f.counts.Excluded, "held", f.counts.HeldBack,
			"skipped", f.counts.Skipped, "problem_codes", codeList(f.problems), "skip_codes", codeList(f.skips))
	}
}

// logDiff tells what a new list of tools has that the old one had not (S10). Tools that may destroy something, and did not
// before, are named in a warning of their own, unless their document is read for the first time: that happens to each at a start, one
// after the other, and again when one that could not be read can be.
func (g *Gateway) logDiff(diff catalog.Diff, next, old *generation) {
	if diff.Empty() {
		return
	}
	g.log.Info("tools changed", "added", len(diff.Added), "removed", len(diff.Removed), "changed", len(diff.Changed),
		"added_tools", first(diff.Added), "removed_tools", first(diff.Removed), "changed_tools", first(diff.Changed))
	var destructive []string
	for _, name := range slices.Concat(diff.Added, diff.Changed) {
		tool, before := next.catalog.Lookup(name), old.catalog.Lookup(name)
		if tool.Annotations.Destructive && (before == nil || !before.Annotations.Destructive) && old.knows(tool.API, next.documents[tool.API]) {
			destructive = append(destructive, name)
		}
	}
	if len(destructive) > 0 {
		g.log.Warn("tools that may destroy something are new", "count", len(destructive), "tools", first(destructive))
	}
}

// knows tells whether an API of that name, or of a document from there, was served: a document that changes its title gives its API another
// name.
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

// first returns the first few names of a long list, for the log.
func first(names []string) []string { return names[:min(len(names), 20)] }

// setStatus publishes what operators see. APIs that are gone, or have got another name from their document, leave no
// series behind: an alert on a state that nobody updates would never end.
func (g *Gateway) setStatus(gen *generation, d *deployment, configError string) {
	s := admin.Status{Ready: g.ready(gen, d), Config: admin.Config{LoadedAt: d.loadedAt, Error: configError, Opens: g.held, PassedOver: d.passed}}
	if gen != nil {
		s.Config.Prompts, s.Config.Clashes, s.Config.Selectors = gen.promptFaults, gen.clashes, gen.selectors.texts()
		for _, t := range gen.catalog.All() {
			g.admission.pace.Step()
			if !t.Hidden {
				s.Tools++
			}
		}
	}
	before := g.measured
	g.measured = map[string]*fates{}
	for _, src := range d.sources {
		a := src.status()
		var f *fates
		if gen != nil && gen.fates[a.Name] != nil {
			f = gen.fates[a.Name]
			f.describe(&a)
		}
		g.measured[a.Name] = f
		if f != before[a.Name] {
			g.metrics.Fates(a.Name, f.counted(), before[a.Name].counted())
		}
		s.APIs = append(s.APIs, a)
		g.metrics.API(&a, src.attached.expiry())
	}
	for name := range before {
		if _, ok := g.measured[name]; !ok {
			g.metrics.ForgetAPI(name)
		}
	}
	g.traffic.Store(trafficOf(d))
	g.status.Store(&s)
}
