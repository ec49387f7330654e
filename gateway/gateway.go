package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/job"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi/answer"
)

// Options are what a [Gateway] is made of.
type Options struct {
	// Config is the first configuration.
	Config *config.Config
	// LoadConfig reads the configuration anew for [Gateway.Reload]. Nil: the configuration never changes, and a
	// reload reads the documents alone.
	LoadConfig func() (*config.Config, error)
	// Version is the version of the program, for serverInfo.
	Version string
	// Logger takes all log records. Nil: none.
	Logger *slog.Logger
	// Metrics is where the gateway registers its metrics, and what /metrics shows. Nil: a new registry.
	Metrics *prometheus.Registry
	// TracerProvider makes spans of requests and upstream calls. Nil: no tracing.
	TracerProvider trace.TracerProvider
	// Audit takes a line for each call. Nil: there is no audit log. Who makes it has it written, longer than calls run.
	Audit *audit.Log
	// Advise makes [Gateway.Load] compare the documents with the OpenAPI standard, which takes time.
	Advise bool
	// Local makes a gateway for the one who runs it: nobody is asked for a token, whatever the configuration says, and
	// [Gateway.ServeLines] serves. [Gateway.Handler] must not be served then.
	Local bool
	// InUse, if set, is called by [Gateway.Run] with each configuration of a reload when it is in use.
	InUse func(*config.Config)
	// Unlocked serves all tools, whatever tools.lock says: for those who write that file.
	Unlocked bool
	// ConfigFile is the path of the configuration file of a gateway that serves. What it allows is recorded in server.state_dir, and
	// [New] refuses one that allows more than the last that ran; "" records and refuses nothing.
	ConfigFile string
	// Accept makes [New] take a configuration that allows more than the last that ran.
	Accept bool
	// StateDirs are further directories for that record: a file that was cut short may name none.
	StateDirs []string
	// Progress, if set, is called by [Gateway.Load] each time that it is done with a document, from several goroutines.
	Progress func(done, all int)

	jitter func(time.Duration) time.Duration // of the times between looks at jobs, for tests; nil: a tenth more or less
	// replaceFor is how long newer configurations replace one whose documents are read, for tests; 0: [replaceFor].
	replaceFor   time.Duration
	storeOptions func(*diskcache.Options) // changes how documents are kept on disk, for tests; nil if nothing does
	now          func() time.Time         // the clock of tokens, keys and certificates for services, for tests; nil: time.Now
}

// Gateway serves the operations of the configured APIs as MCP tools. Make it with [New], keep [Gateway.Run]
// running, and serve [Gateway.Handler] and [Gateway.Admin]. All methods are safe for concurrent use.
type Gateway struct {
	o           Options
	log         *slog.Logger
	metrics     *telemetry.Metrics
	tracer      *telemetry.Tracer // nil without tracing
	audit       *audit.Log        // nil: none
	public      http.Handler
	admin       http.Handler
	faults      telemetry.LogSampler // of calls
	requests    *telemetry.RequestLog
	unsigned    telemetry.LogSampler // of callbacks
	cursors     *cursors
	mcpHandlers *mcpHandlers
	reports     *reports
	tasks       *tasks
	// completions are what services have told to those who type.
	completions completions
	watches     *watches
	answers     *cache.Cache       // that are kept
	links       *mcp.SealedHandles // of answers that are read later
	clients     *clientip.Resolver
	untrusted   *clientip.UntrustedProxies
	ownKey      []byte      // seals handles where the configuration has no keys; nil: it has
	fileKey     []byte      // the same, in a file; nil: there is none
	fileKeyAt   config.File // where fileKey is
	shared      *shared
	admission   *limiters
	connections *listener.Limiter
	addresses   *state.LocalRates                 // counters of addresses, not shared: what they spare is the process
	guessedJob  *job.Definition                   // of jobs that nothing describes
	jitter      func(time.Duration) time.Duration // of the times between looks at jobs

	current   atomic.Pointer[generation] // nil until the first API is served
	screening atomic.Pointer[screening]
	guards    atomic.Pointer[guards]
	identity  atomic.Pointer[credential.Identity] // nil: no service is told who calls
	status    atomic.Pointer[admin.Status]
	traffic   atomic.Pointer[traffic]
	draining  atomic.Bool
	serving   chan struct{} // closed when current is set for the first time
	isServed  sync.Once
	// attempted is closed when each document of the first deployment was read once, or could not be.
	attempted   chan struct{}
	isAttempted sync.Once
	running     atomic.Bool
	// becameReady tells that the gateway was ready; of the goroutine that publishes.
	becameReady bool
	measured    map[string]*fates // by the names of the APIs that have metrics; of the goroutine that publishes

	ended   chan struct{} // closed when Run has ended
	reloads chan reload
	// requested has one place: the configuration is to be read anew.
	requested chan struct{}
	updates   chan update
	accepts   chan acceptance
	store     *diskcache.Store // nil if documents are kept in memory alone
	record    *accessRecord    // nil: what runs is not recorded
	held      []string         // what a configuration would open that is held; of the goroutine that publishes

	// first is the deployment of Options.Config; Run and Load take it over.
	first *deployment
}

// New checks what can be checked without the network and returns a gateway that serves nothing yet. The error
// tells all problems. It starts no goroutine.
func New(o Options) (*Gateway, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.jitter == nil {
		o.jitter = about
	}
	o.replaceFor = cmp.Or(o.replaceFor, replaceFor)
	o.Metrics = cmp.Or(o.Metrics, prometheus.NewRegistry())
	o.Logger = slog.New(named{o.Logger.Handler()})
	g := &Gateway{
		o: o, log: o.Logger, audit: o.Audit, metrics: telemetry.NewMetrics(o.Metrics, o.Version), clients: &clientip.Resolver{},
		addresses: state.NewLocalRates(0, o.now),
		jitter:    o.jitter, serving: make(chan struct{}), attempted: make(chan struct{}), ended: make(chan struct{}), reloads: make(chan reload), requested: make(chan struct{}, 1), updates: make(chan update),
		accepts: make(chan acceptance),
	}
	g.admission = newLimiters(func() bool { return g.current.Load() != nil })
	g.metrics.DocumentMemoryLimit(g.admission.documents.Total())
	g.tracer = telemetry.NewTracer(o.TracerProvider)
	g.requests = telemetry.NewRequestLog(telemetry.RequestLogOptions{Metrics: g.metrics, Logger: g.log, ClientAddress: g.clients.Address, Now: o.now})
	g.connections = g.newConnections()
	g.untrusted = clientip.NewUntrustedProxies(g.log, o.Metrics)
	c := o.Config
	keys, err := g.keysOf(c)
	if err != nil {
		return nil, err
	}
	g.store = g.newStore(c)
	g.reports = newReports()
	g.guessedJob = job.Guess()
	if g.shared, err = g.newShared(c, keys); err != nil {
		return nil, err
	}
	if err = g.compareWithRecord(); err != nil {
		return nil, err
	}
	if g.first, err = g.deploy(c, nil); err != nil {
		return nil, err
	}
	if g.cursors, err = newCursors(keys); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	if g.tasks, err = newTasks(keys, g.shared); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	if g.links, err = mcp.NewSealedHandles(keys, "drawbridge link"); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	g.traffic.Store(&traffic{})
	o.Metrics.MustRegister(telemetry.NewUpstreamCollector(func() map[string]*upstream.Client { return *g.traffic.Load() }))
	g.mcpHandlers, g.watches = g.newSpeakers(c, keys), newWatches(g)
	g.answers = cache.New(int64(c.Limits.Cache), o.now, g.panicked)
	if g.shared.answers != nil {
		g.answers.With(g.shared.answers)
	}
	o.Metrics.MustRegister(telemetry.NewIssuerCollector(g.issuers), telemetry.NewStatusCollector(g.Status, admission.MemoryShare))
	o.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_open_streams",
		Help: "Open streams on which clients wait for changes."}, func() float64 { return float64(g.mcpHandlers.streams()) }))
	o.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_unread_lists",
		Help: "Lists on their way to clients that do not read them."}, func() float64 { return float64(g.mcpHandlers.readers.Count()) }))
	o.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_watched_resources",
		Help: "Resources that are looked at for clients that want to hear of changes."}, func() float64 { return float64(g.watches.count()) }))
	o.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_cache_bytes",
		Help: "Bytes of the answers that are kept in memory, about."}, func() float64 { n, _ := g.answers.Size(); return float64(n) }))
	g.public = g.routes()
	g.use(g.first.screening)
	g.guards.Store(newGuards(g.first))
	g.identity.Store(g.first.identity)
	g.setStatus(nil, g.first, "")
	g.admin = admin.Handler(admin.Options{
		Status: g.Status, Report: g.Report, Metrics: o.Metrics, Reload: g.Reload, Accept: g.Accept,
		Clean: answer.CleanData, Access: func() *admin.Access { return g.fronting().access },
	})
	return g, nil
}

// Handler serves clients: /mcp and the protected resource metadata of RFC 9728; and services: the keys of identities. Until the first API is served,
// /mcp answers 503.
func (g *Gateway) Handler() http.Handler { return g.public }

// Admin serves operators: health, readiness, metrics, the state of the APIs and POST /reload. It belongs on a
// listener of its own.
func (g *Gateway) Admin() http.Handler { return g.admin }

// Serving is closed as soon as the first API is served.
func (g *Gateway) Serving() <-chan struct{} { return g.serving }

// Status tells the state of the gateway and of each API, without secrets.
func (g *Gateway) Status() admin.Status {
	s := *g.status.Load()
	s.APIs = slices.Clone(s.APIs)
	for i := range s.APIs {
		g.traffic.Load().describe(&s.APIs[i])
	}
	s.Draining = g.draining.Load()
	s.Ready = s.Ready && !s.Draining
	s.Shared = g.shared.status()
	return s
}

// issuers returns the state of the issuers of tokens; nil if no tokens are asked for.
func (g *Gateway) issuers() []auth.Status {
	gen := g.current.Load()
	if gen == nil || gen.whole.guard == nil {
		return nil
	}
	return gen.whole.guard.Status()
}

// Report returns the load report of an API, by the name that [Gateway.Status] has for it; false: there is no such API. The
// report of one that is not served holds its state alone.
func (g *Gateway) Report(name string) (admin.Report, bool) {
	for _, a := range g.status.Load().APIs {
		if a.Name != name {
			continue
		}
		if gen := g.current.Load(); gen != nil && gen.fates[name] != nil {
			return gen.fates[name].report(a), true
		}
		return admin.Report{API: a, Problems: []admin.Problem{}, Operations: []admin.Operation{}}, true
	}
	return admin.Report{}, false
}

// Drain makes the gateway report itself as not ready and ask clients to close their connections. Calls go on to
// be served; it is for the process to stop listening when load balancers have noticed.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Reload reads the configuration and all documents anew and returns when the result is in use. If the
// configuration has errors, all of them are returned and the one in use stays; an API whose document can't be
// read keeps its last good one, which [Gateway.Status] tells and which is no error here. It needs [Gateway.Run]:
// before Run it waits, after it there is an error.
func (g *Gateway) Reload(ctx context.Context) error {
	done := make(chan error, 1)
	select {
	case g.reloads <- reload{done: []chan<- error{done}, asked: true}:
	case <-g.ended:
		return errEnded
	case <-ctx.Done():
		return fmt.Errorf("reload: %w", ctx.Err())
	}
	select {
	case err := <-done:
		return err
	case <-g.ended:
		return errEnded
	case <-ctx.Done():
		return fmt.Errorf("reload: still under way: %w", ctx.Err())
	}
}

var errEnded = errors.New("reload: the gateway has ended")

// RequestReload is [Gateway.Reload] for somebody who doesn't wait: what comes of it is in the log. Requests that come before one has begun are one.
func (g *Gateway) RequestReload() { signal(g.requested) }

// Load reads every document once, publishes what it gets and returns the outcome of each API in the order of the
// configuration. It is for commands that look at the tools or make one call; [Gateway.Run] does it by itself, and
// the two exclude each other. When ctx ends before all are read there is no outcome: what is missing tells nothing of the
// documents.
func (g *Gateway) Load(ctx context.Context) ([]Outcome, error) {
	if !g.running.CompareAndSwap(false, true) {
		return nil, errors.New("the gateway runs already")
	}
	d := g.first
	var wg sync.WaitGroup
	var done atomic.Int64
	outcomes := make([]Outcome, len(d.sources))
	for i, s := range d.sources {
		wg.Go(func() {
			l, _, err := s.load(ctx, nil)
			outcomes[i] = Outcome{Err: err, loaded: l}
			if g.o.Progress != nil {
				g.o.Progress(int(done.Add(1)), len(d.sources))
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, s := range d.sources {
		s.loaded, s.err, s.tried = outcomes[i].loaded, outcomes[i].Err, true
	}
	g.publish(d, "")
	for i, s := range d.sources {
		outcomes[i].Report, _ = g.Report(s.name)
		outcomes[i].describe(s)
	}
	return outcomes, nil
}
