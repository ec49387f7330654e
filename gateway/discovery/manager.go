package discovery

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/config"
)

// Options configure a [Manager].
type Options struct {
	// Logger records what providers and lookups report.
	Logger *slog.Logger
	// NewProvider makes the provider of an item of the configuration.
	NewProvider func(d *config.Discovery) (Provider, error)
	// NewClient makes the client that looks for the document of an API at these instances of its service.
	NewClient func(api *config.API, instances []string) (Client, error)
	// DocumentDir is where documents are kept that come from a registry itself; "" for a directory that is removed at the end.
	DocumentDir string
	// StateFile keeps services and approvals across restarts; "" for none.
	StateFile string
	// Keep runs f, and again after a panic, until ctx ends.
	Keep func(ctx context.Context, what string, f func())
	// Step runs a step and recovers from a panic, which it reports.
	Step func(what string, step func()) (panicked bool)
}

// Times of a [Manager].
const (
	quiet       = 200 * time.Millisecond // without a change, before changes are published
	longest     = time.Second            // from the first change until changes are published
	lookupAgain = time.Hour              // after a lookup without result
	firstRetry  = 2 * time.Second        // after a lookup without a response; it doubles
)

// Manager runs the providers. Its methods are safe for concurrent use.
type Manager struct {
	o         Options
	documents documentFiles
	events    chan func(ctx context.Context) // run by the goroutine of Run alone
	changed   chan struct{}                  // capacity 1: the snapshot is another one
	snapshot  atomic.Pointer[Snapshot]
	instances instances

	// Only the goroutine of Run uses what follows.

	providers  []*providerState
	configured map[string]bool // names of configured APIs, in lower case
	serving    []*Instances    // of the services that are served
	seq        int             // the number of services that became known
	publish    *time.Timer
	dirty      time.Time // when the first change came that is not published; zero if none did
	group      sync.WaitGroup
	restored   map[string][]savedService // by provider, until it is in use
	used       bool                      // Use was called
	settled    chan struct{}             // closed when each provider has answered, or failed, and no lookup is under way
}

// New returns a manager without providers. It starts no goroutine.
func New(o Options) *Manager {
	m := &Manager{
		o: o, documents: documentFiles{dir: o.DocumentDir}, events: make(chan func(context.Context), 64), changed: make(chan struct{}, 1),
		publish: time.NewTimer(time.Hour), settled: make(chan struct{}),
	}
	m.publish.Stop()
	m.snapshot.Store(&Snapshot{})
	m.restored = m.load()
	return m
}

// Changed receives after a new snapshot came.
func (m *Manager) Changed() <-chan struct{} { return m.changed }

// Settled returns a channel that is closed once each provider has answered, or failed, and no lookup is under way.
func (m *Manager) Settled() <-chan struct{} { return m.settled }

// Snapshot returns what is known now.
func (m *Manager) Snapshot() *Snapshot { return m.snapshot.Load() }

// Instances returns the addresses of a service.
func (m *Manager) Instances(service config.ServiceID) *Instances {
	return m.instances.of(service)
}

// Run runs the providers until ctx ends, and returns when all goroutines have ended.
func (m *Manager) Run(ctx context.Context) {
	defer m.documents.close()
	m.run(ctx)
}

func (m *Manager) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer m.group.Wait()
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-m.events:
			m.o.Step("services were taken over", func() { event(ctx) })
		case <-m.publish.C:
			m.dirty = time.Time{}
			m.o.Step("services were published", m.store)
		}
	}
}

// Use takes over the providers of a configuration. Those that did not change go on.
func (m *Manager) Use(c *config.Config) {
	names := map[string]bool{}
	for i := range c.APIs {
		if name := c.APIs[i].Name; name != "" && !c.APIs[i].IsDiscovered() {
			names[strings.ToLower(name)] = true
		}
	}
	// Before Run and after it, as many wait as the channel holds.
	m.events <- func(ctx context.Context) { m.use(ctx, c.Discovery, names) }
}

// post hands an event to the goroutine of Run, unless ctx ends before it is taken.
func (m *Manager) post(ctx context.Context, event func(context.Context)) {
	select {
	case m.events <- event:
	case <-ctx.Done():
	}
}

// Settle runs the providers of a configuration until each of them has answered, or failed, and the documents of their
// services were looked for. It is for commands that list what there is, in place of Run. They call Release once they have read
// the documents.
func (m *Manager) Settle(ctx context.Context, c *config.Config) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { m.run(ctx) })
	m.Use(c)
	select {
	case <-m.settled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release removes the documents that were kept for this run alone, after Settle.
func (m *Manager) Release() { m.documents.close() }

func (m *Manager) use(ctx context.Context, ds []config.Discovery, configured map[string]bool) {
	m.used = true
	m.configured = configured
	var next []*providerState
	for i := range ds {
		d := &ds[i]
		j := slices.IndexFunc(m.providers, func(p *providerState) bool { return strings.EqualFold(p.d.Name, d.Name) })
		var p *providerState
		if j >= 0 {
			p = m.providers[j]
		} else {
			p = &providerState{services: map[key]*service{}, slots: newLookupSlots()}
			m.restore(p, d)
		}
		same := j >= 0 && p.d.SameRegistry(d)
		p.configure(d, config.DiscoveryKey(i))
		if !same {
			m.start(ctx, p)
		}
		next = append(next, p)
	}
	for _, p := range m.providers {
		if !slices.Contains(next, p) {
			p.stop()
		}
	}
	m.providers = next
	for _, p := range next {
		m.evaluate(ctx, p)
	}
	m.wakeAll(ctx) // its settings may lead to documents that were missing
	m.touch()
}

// start runs the provider as it is configured now.
func (m *Manager) start(ctx context.Context, p *providerState) {
	p.stop()
	source, err := m.o.NewProvider(p.d)
	if err != nil {
		p.err = err.Error()
		m.o.Logger.Error("provider of services can't be used", "provider", p.d.Name, "error", err)
		return
	}
	own, cancel := context.WithCancel(ctx)
	p.cancel = cancel
	name := p.d.Name
	m.group.Go(func() {
		m.o.Keep(own, "services were discovered", func() {
			source.Run(own, func(targets []Target, err error) {
				received := slices.Clone(targets) // nil stays nil
				for i := range received {
					received[i].normalize()
				}
				m.post(own, func(ctx context.Context) {
					if own.Err() == nil {
						m.received(ctx, name, received, err)
					}
				})
			})
		})
	})
}

// received takes over what a provider reports.
func (m *Manager) received(ctx context.Context, name string, targets []Target, err error) {
	i := slices.IndexFunc(m.providers, func(p *providerState) bool { return p.d.Name == name })
	if i < 0 {
		return
	}
	p := m.providers[i]
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if targets != nil {
		p.updated = time.Now()
	}
	same := targets == nil || p.answered && reflect.DeepEqual(targets, p.targets)
	if same && problem == p.err { // only the time is another one
		next := *m.snapshot.Load()
		next.Providers = m.providerStatus()
		m.snapshot.Store(&next)
		return
	}
	if problem != "" && problem != p.err {
		m.o.Logger.Warn("registry can't be read as a whole; the services that it had stay in use", "provider", name, "error", err)
	}
	p.err = problem
	if !same {
		p.targets, p.answered = targets, true
		m.evaluate(ctx, p)
	}
	m.touch()
}

// evaluate applies the configuration to the last answer of a registry, and starts the lookups that it needs.
func (m *Manager) evaluate(ctx context.Context, p *providerState) {
	for _, s := range p.evaluate(m.nextSeq) {
		m.lookUp(ctx, p, s)
	}
	for _, key := range p.keys() {
		m.look(ctx, p, p.services[key])
	}
	for _, s := range p.gone {
		if s.by == byRegistry {
			m.documents.remove(s.location)
		}
	}
	p.gone = nil
}

func (m *Manager) nextSeq() int { m.seq++; return m.seq }

// known is a service of a provider.
type known struct {
	p *providerState
	s *service
}

// known returns all services in the order in which they became known.
func (m *Manager) known() (all []known) {
	for _, p := range m.providers {
		for _, s := range p.services {
			all = append(all, known{p, s})
		}
	}
	slices.SortFunc(all, func(a, b known) int { return cmp.Compare(a.s.seq, b.s.seq) })
	return all
}

// ask runs a step in the goroutine of Run and returns its error.
func (m *Manager) ask(ctx context.Context, step func(context.Context) error) error {
	done := make(chan error, 1)
	m.post(ctx, func(ctx context.Context) { done <- step(ctx) })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
