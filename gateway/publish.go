package gateway

import (
	"bytes"
	"context"
	"log/slog"
	"net/netip"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/report"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/toolname"
	"drawbridge/openapi"
)

// publisher builds generations and serves them. Only one goroutine at a time calls its methods.
type publisher struct {
	*served
	builder  *generation.Builder
	handlers *endpoint.Handlers
	answers  *cache.Cache
	names    *toolname.Record // nil if nothing is kept
	clients  *clientip.Resolver
	// untrusted remembers the proxies that it has warned of.
	untrusted *clientip.UntrustedProxies
	// rekey lists what seals handles with the keys of a configuration.
	rekey   []func(keys [][]byte) error
	pace    *openapi.Pace
	metrics *telemetry.Metrics
	log     *slog.Logger

	// becameReady reports whether as many APIs were served as server.ready demands.
	becameReady bool
	// measured holds the operation results that the metrics show, by API name.
	measured map[string]*report.API
}

// Current returns the generation that is served; nil if there is none.
func (p *publisher) Current() *generation.Generation { return p.current.Load() }

// recall reads the names that tools had in the previous run, before anything is published.
func (p *publisher) recall(ctx context.Context) { p.builder.Published = p.names.Read(ctx) }

// prepare applies a deployment to requests before anything is served.
func (p *publisher) prepare(d *generation.Deployment) {
	p.use(d.Settings)
	p.useGuard(d.Guard)
	p.guards.Store(endpoint.NewMetadataGuards(d.Config, d.Guard))
	p.identity.Store(d.Identity)
	p.withAccounts.Store(accountsOf(d))
}

// Publish builds a generation of the deployment and makes it the current one, if there is anything to serve.
// newest tells why a newer configuration is not in use.
func (p *publisher) Publish(d *generation.Deployment, newest reload.NotInUse) {
	p.prepare(d)
	p.answers.Resize(int64(d.Config.Limits.Cache))
	if p.shared.Answers != nil {
		p.shared.Answers.Resize(int64(d.Config.Limits.Cache))
	}
	allTried := d.Tried()
	old := p.current.Load()
	if !d.Loaded() && old == nil {
		p.SetStatus(nil, d, newest)
		return
	}
	before := p.endpoints()
	gen, diff := p.builder.Build(d, before, old)
	p.current.Store(gen)
	if d.Config.Tools.Names == config.NamesShort { // others don't change it
		p.names.Note(gen.Published)
	}
	p.handlers.Retain(d.Config)
	if old != nil && old.Main.Guard != gen.Main.Guard {
		p.handlers.DisconnectAll() // sessions may belong to tokens that the new guard does not accept (H9)
	}
	p.handlers.ListsChanged(mcp.ToolsList | mcp.ResourcesList | mcp.PromptsList)
	gen.ReportLists(p.log, p.metrics, before)
	gen.LogChanges(p.log, old, diff)
	if old != nil {
		for _, name := range diff.Removed {
			old.Main.Tools[name].Metrics().Forget() // documents come and go; the metrics of their tools must not accumulate
		}
	}
	p.SetStatus(gen, d, newest)
	p.isServed.Do(func() { close(p.serving) }) // after SetStatus, because a waiter may read the status
	if gen.Searches() && allTried {
		gen.Finder.Index() // before the first client waits for it
	}
}

// use applies the settings of a configuration to everything that outlives generations.
func (p *publisher) use(next *generation.RequestSettings) {
	old := p.settings.Swap(next)
	if old == next {
		return
	}
	var trusted []netip.Prefix
	for _, n := range next.Config.Server.TrustedProxies {
		trusted = append(trusted, n.Prefix())
	}
	p.clients.Trust(trusted)
	p.untrusted.Reset()
	p.handlers.Reload(next.Config, next.Keys)
	if old != nil && slices.EqualFunc(old.Keys, next.Keys, bytes.Equal) {
		return
	}
	for _, rekey := range p.rekey {
		if err := rekey(next.Keys); err != nil { // the deployment has tried them
			p.log.Error("handles are still sealed with the previous keys", "error", err)
		}
	}
}

// SetStatus publishes the status for operators. It deletes the metric series of APIs that are gone or were renamed
// after their document: an alert on a state that is never updated would never end.
func (p *publisher) SetStatus(gen *generation.Generation, d *generation.Deployment, newest reload.NotInUse) {
	s := admin.Status{Ready: p.ready(gen, d), Config: admin.Config{LoadedAt: d.LoadedAt, Hash: d.Settings.Hash, Error: newest.Refused, Opens: newest.Opens, PassedOver: d.APIs.Fragments}}
	if gen != nil {
		s.Config.Prompts, s.Config.Workflows, s.Config.Clashes, s.Config.Selectors = gen.PromptFaults, gen.WorkflowFaults, gen.Clashes, gen.Selectors.Texts()
		for _, t := range gen.Catalog.All() {
			p.pace.Step()
			if !t.Hidden {
				s.Tools++
			}
		}
	}
	before := p.measured
	p.measured = map[string]*report.API{}
	documents := map[string]string{}
	for _, src := range d.APIs.Sources {
		a := src.Status()
		if src.Document != nil {
			documents[a.Name] = src.Document.Digest()
		}
		var r *report.API
		if gen != nil && gen.Reports[a.Name] != nil {
			r = gen.Reports[a.Name]
			r.Describe(&a)
		}
		p.measured[a.Name] = r
		if r != before[a.Name] {
			p.metrics.SetOperations(a.Name, r.Counted(), before[a.Name].Counted())
		}
		s.APIs = append(s.APIs, a)
		p.metrics.API(&a, src.CertificateExpiry())
	}
	for name := range before {
		if _, ok := p.measured[name]; !ok {
			p.metrics.ForgetAPI(name)
		}
	}
	p.drift.Retain(documents)
	p.traffic.Store(trafficOf(d))
	p.status.Store(&s)
}
