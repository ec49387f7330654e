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
	"drawbridge/gateway/call"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/job"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/report"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/source"
	"drawbridge/gateway/state"
	"drawbridge/gateway/task"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/gateway/widening"
	"drawbridge/openapi/answer"
)

// Options configures a [Gateway].
type Options struct {
	// Config is the first configuration.
	Config *config.Config
	// LoadConfig rereads the configuration for [Gateway.Reload]. If it is nil, the configuration never changes and a
	// reload rereads only the documents.
	LoadConfig func() (*config.Config, error)
	// Version is the program version reported in serverInfo.
	Version string
	// Logger receives all log records. Records are discarded if it is nil.
	Logger *slog.Logger
	// Metrics is the registry for the gateway's metrics, and the one that /metrics serves. If it is nil, New creates
	// one.
	Metrics *prometheus.Registry
	// TracerProvider creates the spans of requests and upstream calls. Tracing is off if it is nil.
	TracerProvider trace.TracerProvider
	// Audit receives one record per call. There is no audit log if it is nil. The caller of New runs its writer, for
	// longer than calls run.
	Audit *audit.Log
	// Advise makes [Gateway.Load] also compare the documents with the OpenAPI standard, which takes time.
	Advise bool
	// Local makes a gateway for the user that runs the program: no token is required, whatever the configuration says,
	// and [Gateway.ServeLines] serves. [Gateway.Handler] must not be served then.
	Local bool
	// InUse, if not nil, is called by [Gateway.Run] with each reloaded configuration once it is in use.
	InUse func(*config.Config)
	// Unlocked serves all tools regardless of tools.lock. The commands that write that file need it.
	Unlocked bool
	// ConfigFile is the path of the configuration file. The access that it grants is recorded in server.state_dir, and
	// [New] rejects a configuration that grants more access than the last one that ran. Nothing is recorded or rejected
	// if it is empty.
	ConfigFile string
	// Accept makes [New] accept a configuration that grants more access than the last one that ran.
	Accept bool
	// StateDirs lists further directories for that record, because a truncated configuration file may name none.
	StateDirs []string
	// Progress, if not nil, is called by [Gateway.Load] after each document, from several goroutines.
	Progress func(done, all int)

	jitter func(time.Duration) time.Duration // randomizes the intervals between job polls; ±10 % if nil; set by tests
	// replaceFor overrides the constant [replaceFor] in tests; the constant applies if it is 0.
	replaceFor   time.Duration
	storeOptions func(*diskcache.Options) // adjusts the last-known-good store; nil except in tests
	service      http.RoundTripper        // sends calls to services instead of the network; nil except in tests
	now          func() time.Time         // clock for tokens, keys and certificates of services; time.Now if nil; set by tests
}

// Gateway serves the operations of the configured APIs as MCP tools. Create it with [New], keep [Gateway.Run] running,
// and serve [Gateway.Handler] and [Gateway.Admin]. All methods are safe for concurrent use.
type Gateway struct {
	o             Options
	log           *slog.Logger
	metrics       *telemetry.Metrics
	tracer        *telemetry.Tracer // nil if tracing is off
	audit         *audit.Log        // nil if there is no audit log
	public        http.Handler      // serves clients, see Handler
	admin         http.Handler      // serves operators, see Admin
	requests      *telemetry.RequestLog
	denials       *endpoint.Denials
	cursors       *endpoint.Cursors
	server        *endpoint.Server
	mcpHandlers   *endpoint.Handlers // one MCP handler per endpoint, kept across reloads
	calls         *call.Runner
	tasks         *task.Tasks
	completions   prompt.CompletionCache // cached completion values of the services
	subscriptions *resource.Subscriptions
	answers       *cache.Cache       // response cache
	links         *mcp.SealedHandles // seals the URIs of responses that are read later
	clients       *clientip.Resolver
	untrusted     *clientip.UntrustedProxies
	ownKey        []byte      // generated key that seals handles; nil if the first configuration has keys
	fileKey       []byte      // key that seals handles, read from fileKeyAt; nil if there is no key file
	fileKeyAt     config.File // path of the file with fileKey
	shared        *shared     // state shared with other replicas
	admission     *limiters   // memory budget, concurrency and rate limits
	connections   *listener.Limiter
	embeddings    *embedding.Embedder // finds tools by words, and by vectors if there is a server of embeddings
	addresses     *state.LocalRates   // rate counters per client address; local, since they protect this process
	guessedJob    *job.Definition     // definition of jobs that neither a rule nor a document describes

	current  atomic.Pointer[generation]              // the generation in use; nil until the first API is served
	inUse    atomic.Pointer[configInUse]             // the newest configuration that was in use
	guards   atomic.Pointer[endpoint.MetadataGuards] // token guards, by metadata path
	identity atomic.Pointer[credential.Identity]     // signs caller identities for services; nil if no API asks for them
	status   atomic.Pointer[admin.Status]
	traffic  atomic.Pointer[traffic] // clients of the services, by API name
	draining atomic.Bool
	serving  chan struct{} // closed when current is set for the first time
	isServed sync.Once     // closes serving
	// attempted is closed when the first attempt to read each document of the first deployment has ended.
	attempted   chan struct{}
	isAttempted sync.Once // closes attempted
	running     atomic.Bool
	// becameReady reports whether the gateway has been ready. It belongs to the goroutine that publishes.
	becameReady bool
	// measured holds the operation results that the metrics show, by API name. It belongs to the goroutine that publishes.
	measured map[string]*report.API

	ended      chan struct{}          // closed when Run has returned
	reloads    chan reload            // reloads with a waiter
	requested  chan struct{}          // signals a reload without a waiter; its capacity of 1 merges pending requests
	updates    chan source.Update     // outcomes of the sources
	accepts    chan source.Acceptance // operators' acceptances of quarantined documents
	store      *diskcache.Store       // last-known-good store; nil if documents are kept in memory only
	sourceDeps *source.Deps           // dependencies that all sources share
	record     *widening.Recorder     // access granted by the configuration in use; nil if it is not recorded

	// first is the deployment of Options.Config until Run or Load takes it over.
	first *deployment
}

// New validates everything that needs no network and returns a gateway that serves nothing yet. The error lists all
// problems. New starts no goroutine.
func New(o Options) (*Gateway, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.jitter == nil {
		o.jitter = call.Jitter
	}
	o.replaceFor = cmp.Or(o.replaceFor, replaceFor)
	o.Metrics = cmp.Or(o.Metrics, prometheus.NewRegistry())
	o.Logger = slog.New(call.LogHandler{Handler: o.Logger.Handler()})
	g := &Gateway{
		o: o, log: o.Logger, audit: o.Audit, metrics: telemetry.NewMetrics(o.Metrics, o.Version), clients: &clientip.Resolver{},
		addresses: state.NewLocalRates(0, o.now),
		serving:   make(chan struct{}), attempted: make(chan struct{}), ended: make(chan struct{}), reloads: make(chan reload), requested: make(chan struct{}, 1), updates: make(chan source.Update),
		accepts: make(chan source.Acceptance),
	}
	g.admission = newLimiters(func() bool { return g.current.Load() != nil })
	g.metrics.DocumentMemoryLimit(g.admission.documents.Total())
	g.tracer = telemetry.NewTracer(o.TracerProvider)
	g.requests = telemetry.NewRequestLog(telemetry.RequestLogOptions{Metrics: g.metrics, Logger: g.log, ClientAddress: g.clients.Address, Now: o.now})
	g.denials = &endpoint.Denials{Metrics: g.metrics, Audit: o.Audit, Clients: g.clients}
	g.connections = g.newConnections()
	g.untrusted = clientip.NewUntrustedProxies(g.log, o.Metrics)
	c := o.Config
	keys, err := g.keysOf(c)
	if err != nil {
		return nil, err
	}
	g.store = g.newStore(c)
	g.embeddings = embedding.New(embedding.Options{
		StateDir: c.Server.StateDir.String(), Logger: g.log, Metrics: o.Metrics, TracerProvider: o.TracerProvider, UserAgent: "drawbridge/" + o.Version,
		Pause: g.admission.pace.Step, Recover: g.survive, OnPanic: g.panicked,
	})
	g.guessedJob = job.Guess()
	if g.shared, err = g.newShared(c, keys); err != nil {
		return nil, err
	}
	g.record = newRecorder(&g.o, g.survive)
	if err = g.record.CheckStart(c, o.Accept, o.Local); err != nil {
		return nil, err
	}
	g.server = g.newServer()
	g.sourceDeps = g.newSourceDeps()
	if g.first, err = g.deploy(c, nil); err != nil {
		return nil, err
	}
	if g.cursors, err = endpoint.NewCursors(keys); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	if g.links, err = mcp.NewSealedHandles(keys, "drawbridge link"); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	g.answers = cache.New(int64(c.Limits.Cache), o.now, g.panicked)
	if g.shared.answers != nil {
		g.answers.With(g.shared.answers)
	}
	g.calls = g.newRunner()
	if g.tasks, err = g.newTasks(keys); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	g.traffic.Store(&traffic{})
	g.subscriptions = g.newSubscriptions()
	g.mcpHandlers = g.newMCPHandlers(c, keys)
	g.registerCollectors()
	g.public = g.server.Routes(g.publicRoutes())
	g.use(g.first.inUse)
	g.guards.Store(endpoint.NewMetadataGuards(c, g.first.guard))
	g.identity.Store(g.first.identity)
	g.setStatus(nil, g.first, notInUse{})
	g.admin = admin.Handler(admin.Options{
		Status: g.Status, Report: g.Report, Metrics: o.Metrics, Reload: g.Reload, Accept: g.Accept,
		Clean: answer.CleanData, Access: func() *admin.Access { return g.configInUse().access },
	})
	return g, nil
}

// newRunner returns the runner of all calls.
func (g *Gateway) newRunner() *call.Runner {
	return &call.Runner{
		Log: g.log, Metrics: g.metrics, Tracer: g.tracer, Audit: g.audit, Cache: g.answers, Links: g.links, Rates: g.shared.rates,
		Overload: &g.admission.overload, Responses: g.admission.responses, Jitter: g.o.jitter, Local: g.o.Local,
	}
}

// newTasks returns the tasks of all endpoints. It fails if keys cannot seal task IDs.
func (g *Gateway) newTasks(keys [][]byte) (*task.Tasks, error) {
	return task.New(keys, task.Options{
		Records: g.shared.tasks, Locks: g.shared.holds, Publish: g.shared.changed, Calls: g.calls, Log: g.log, Metrics: g.metrics, Responses: g.admission.responses,
		BaseURL: g.base, Keep: g.Keep, Survive: g.survive,
		Endpoint: func(name string) *call.Endpoint {
			if e := g.currentEndpoints().Lookup(name); e != nil {
				return e.Endpoint
			}
			return nil
		},
		Broker: func(endpoint string) *mcp.Broker { return g.mcpHandlers.BrokerOf(endpoint) },
	})
}

// newSubscriptions returns the resource subscriptions of all endpoints.
func (g *Gateway) newSubscriptions() *resource.Subscriptions {
	o := resource.SubscriptionOptions{
		Calls: g.calls, Log: g.log, Metrics: g.metrics, Endpoint: func(name string) *resource.View {
			if e := g.currentEndpoints().Lookup(name); e != nil {
				return e.View.View
			}
			return nil
		},
	}
	if g.o.Local {
		o.Await = func(ctx context.Context, endpoint string, req *mcp.Request) (*resource.View, error) {
			e, err := g.await(ctx, endpoint, req)
			if err != nil {
				return nil, err
			}
			return e.View.View, nil
		}
	}
	return resource.NewSubscriptions(o)
}

// registerCollectors registers the metrics that are read from the gateway when they are scraped.
func (g *Gateway) registerCollectors() {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	g.o.Metrics.MustRegister(
		telemetry.NewUpstreamCollector(func() map[string]*upstream.Client { return *g.traffic.Load() }),
		telemetry.NewIssuerCollector(g.issuers), telemetry.NewStatusCollector(g.Status, admission.MemoryShare),
		gauge("drawbridge_open_streams", "Open notification streams.", func() float64 { return float64(g.mcpHandlers.Streams()) }),
		gauge("drawbridge_unread_lists", "Lists being sent to clients that read slowly.", func() float64 { return float64(g.mcpHandlers.Readers.Count()) }),
		gauge("drawbridge_watched_resources", "Resources polled for subscriptions.", func() float64 { return float64(g.subscriptions.Count()) }),
		gauge("drawbridge_cache_bytes", "Approximate size of the response cache in memory.", func() float64 {
			n, _ := g.answers.Size()
			return float64(n)
		}),
	)
}

// Handler returns the handler for clients (/mcp and the protected resource metadata of RFC 9728) and for services (the
// public keys of identity tokens). /mcp answers 503 until the first API is served.
func (g *Gateway) Handler() http.Handler { return g.public }

// Admin returns the handler for operators: health, readiness, metrics, the state of the APIs and POST /reload. It
// belongs on a listener of its own.
func (g *Gateway) Admin() http.Handler { return g.admin }

// Serving returns a channel that is closed as soon as the first API is served.
func (g *Gateway) Serving() <-chan struct{} { return g.serving }

// Attempted returns a channel that is closed when the first attempt to read each document has ended.
func (g *Gateway) Attempted() <-chan struct{} { return g.attempted }

// Status returns the state of the gateway and of each API, without secrets.
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

// Lists describes what the lists of tools of all endpoints show.
func (g *Gateway) Lists() []endpoint.ToolList { return g.currentEndpoints().Lists() }

// issuers returns the state of the token issuers; nil if no tokens are required.
func (g *Gateway) issuers() []auth.Status {
	gen := g.current.Load()
	if gen == nil || gen.Main.Guard == nil {
		return nil
	}
	return gen.Main.Guard.Status()
}

// Report returns the load report of an API, by its name in [Gateway.Status], and false if there is no such API. The
// report of an API that is not served contains only its state.
func (g *Gateway) Report(name string) (admin.Report, bool) {
	for _, a := range g.status.Load().APIs {
		if a.Name != name {
			continue
		}
		if gen := g.current.Load(); gen != nil && gen.fates[name] != nil {
			return gen.fates[name].Report(a), true
		}
		return admin.Report{API: a, Problems: []admin.Problem{}, Operations: []admin.Operation{}}, true
	}
	return admin.Report{}, false
}

// Drain makes the gateway report itself as not ready and ask clients to close their connections. Calls are still
// served; the process stops listening once load balancers have noticed.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Reload rereads the configuration and all documents and returns when the result is in use. If the configuration has
// errors, Reload returns all of them and the configuration in use stays. An API whose document can't be read keeps its
// last-known-good one: [Gateway.Status] shows that, and Reload returns no error for it. Reload needs [Gateway.Run]: it
// blocks before Run starts, and fails after Run has returned.
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

// RequestReload is [Gateway.Reload] without waiting: the outcome is logged. Requests made before a reload begins are
// merged.
func (g *Gateway) RequestReload() { signal(g.requested) }

// Load reads every document once, publishes the result and returns the outcome of each API in the order of the
// configuration. It is for commands that list tools or make one call; [Gateway.Run] loads by itself, and the two
// exclude each other. If ctx ends before all documents are read, Load returns no outcomes, because a missing one says
// nothing about its document.
func (g *Gateway) Load(ctx context.Context) ([]Outcome, error) {
	if !g.running.CompareAndSwap(false, true) {
		return nil, errors.New("the gateway runs already")
	}
	d := g.first
	var wg sync.WaitGroup
	var done atomic.Int64
	outcomes := make([]Outcome, len(d.apis.Sources))
	for i, s := range d.apis.Sources {
		wg.Go(func() {
			document, err := s.Load(ctx)
			outcomes[i] = Outcome{Err: err, document: document}
			if g.o.Progress != nil {
				g.o.Progress(int(done.Add(1)), len(d.apis.Sources))
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, s := range d.apis.Sources {
		s.Document, s.Err, s.Tried = outcomes[i].document, outcomes[i].Err, true
	}
	g.publish(d, notInUse{})
	for i, s := range d.apis.Sources {
		outcomes[i].Report, _ = g.Report(s.Name)
		outcomes[i].describe(s)
	}
	return outcomes, nil
}
