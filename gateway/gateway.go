package gateway

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"

	"drawbridge/gateway/account"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/authguard"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/call"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/driftcount"
	"drawbridge/gateway/embedding"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/filewatch"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/job"
	"drawbridge/gateway/job/polling"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/reload"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/source"
	"drawbridge/gateway/state"
	"drawbridge/gateway/task"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/toolname"
	"drawbridge/gateway/widening"
	"drawbridge/openapi/answer"
)

// Gateway serves the operations of the configured APIs as MCP tools. Create it with [New], keep [Gateway.Run] running,
// and serve [Gateway.Handler] and [Gateway.Admin]. All methods are safe for concurrent use.
type Gateway struct {
	*served    // what is served, and its state
	*surface   // how it is reached
	*inProcess // how the operator of the process reaches its tools

	o          Options
	log        *slog.Logger
	metrics    *telemetry.Metrics
	tracer     *telemetry.Tracer        // nil if tracing is off
	operations *telemetry.MCPOperations // nil if nobody watches them
	recovery   *recovery.Recoverer
	admission  *limiters // memory budget and concurrency limits
	keys       *sealKeys
	store      *diskcache.Store          // last-known-good store; nil if documents are kept in memory only
	shownText  atomic.Pointer[shownText] // nil until a page has shown a text
	embeddings *embedding.Embedder       // finds tools by words, and by vectors if there is a server of embeddings
	files      *filestore.Store          // of callers; nil if none are kept
	links      *mcp.SealedHandles        // seals the URIs of responses that are read later
	logins     *mcp.Sealer               // seals what clients and browsers keep of registrations and logins
	tokens     *mcp.Sealer               // seals the accounts of callers at services, and links to connect them
	accounts   *account.Accounts         // of callers at services
	cursors    *endpoint.Cursors
	answers    *cache.Cache // response cache
	methods    endpoint.CallMethods
	deployer   *generation.Deployer
	services   *discovery.Manager
	publisher  *publisher
	runner     *reload.Runner
}

// New validates everything that needs no network and returns a gateway that serves nothing yet. The error lists all
// problems. New starts no goroutine.
func New(o Options) (*Gateway, error) {
	o = o.withDefaults()
	c := o.Config
	s := newServed()
	g := &Gateway{o: o, log: o.Logger, served: s, surface: &surface{served: s, clients: &clientip.Resolver{}}}
	g.addLimits()
	g.keys = &sealKeys{started: c, local: o.Local, log: g.log}
	keys, err := g.keys.of(c)
	if err != nil {
		return nil, err
	}
	g.store = newStore(&g.o, g.admission, g.recovery)
	g.embeddings = embedding.New(embedding.Options{
		StateDir: c.Server.StateDir.String(), Logger: g.log, Metrics: o.Metrics, TracerProvider: o.TracerProvider, UserAgent: "drawbridge/" + o.Version,
		Pause: g.admission.pace.Step, Recover: g.recovery.Step, OnPanic: g.recovery.Report,
	})
	if s.shared, err = g.newStores(keys, g.replicaEvents()); err != nil {
		return nil, err
	}
	if err := g.addAccounts(keys); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	g.admission.calls = &admission.Calls{Overload: &g.admission.overload, Rates: s.shared.Rates}
	if s.audit = o.Audit; s.audit != nil {
		g.admission.calls.Unaudited = s.audit.Refuses
	}
	recorder := newRecorder(&g.o, g.recovery)
	if err = recorder.CheckStart(c, o.Accept, o.Local); err != nil {
		return nil, err
	}
	g.server = g.newServer()
	updates := make(chan source.Update)
	g.deployer = g.newDeployer(updates)
	g.services = g.newServices()
	s.discovered = g.services.Snapshot
	first, err := g.deployer.Deploy(c, nil)
	if err != nil {
		return nil, err
	}
	if o.Test.FirstDeployment != nil {
		o.Test.FirstDeployment(first)
	}
	if err := g.addCalls(keys); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	g.addHandlers(keys)
	g.publisher = g.newPublisher()
	g.runner = reload.New(reload.Options{
		LoadConfig: o.LoadConfig, Started: c, Local: o.Local, CompareStored: o.CompareStored, ReplaceFor: o.Test.ReplaceFor, InUse: o.InUse, Updates: updates, Deploy: g.deployer.Deploy,
		Services: g.services,
		Recorder: recorder, Store: g.store, Recovery: g.recovery, Metrics: g.metrics, Log: g.log,
	}, first, g.publisher)
	registerCollectors(o.Metrics, g.served, g.surface, g.answers)
	g.addRoutes()
	g.publisher.prepare(first)
	g.publisher.SetStatus(nil, first, reload.NotInUse{})
	return g, nil
}

// addLimits adds what observes and limits everything else.
func (g *Gateway) addLimits() {
	g.metrics = telemetry.NewMetrics(g.o.Metrics, g.o.Version)
	g.drift = driftcount.New(g.metrics.Drifted, g.o.Test.Now)
	g.tracer = telemetry.NewTracer(g.o.TracerProvider)
	g.operations = telemetry.NewMCPOperations(g.tracer, g.o.MeterProvider)
	g.recovery = &recovery.Recoverer{Log: g.log, Panics: g.metrics.Panics}
	g.admission = newLimiters(func() bool { return g.current.Load() != nil })
	g.metrics.DocumentMemoryLimit(g.admission.documents.Total())
	g.denials = &endpoint.Denials{Metrics: g.metrics, Audit: g.o.Audit, Clients: g.clients}
	g.untrusted = clientip.NewUntrustedProxies(g.log, g.o.Metrics)
	g.connections = listener.NewLimiter(g.connectionLimits(g.o.Metrics, g.recovery.Report))
}

// newServer returns the server of the endpoints.
func (g *Gateway) newServer() *endpoint.Server {
	memoryShort := g.admission.overload.MemoryShort
	return &endpoint.Server{ServerOptions: endpoint.ServerOptions{
		Current: g.endpoints,
		Admission: &endpoint.RequestAdmission{
			Denials: g.denials, Clients: g.clients, Addresses: state.NewLocalRateCounters(0, g.o.Test.Now), Principals: g.shared.Rates, MemoryShort: memoryShort,
			Calls: g.admission.calls, Log: g.log,
		},
		Denials: g.denials, Clients: g.clients, Untrusted: g.untrusted, Connections: g.connections, Tracer: g.tracer, Draining: &g.draining,
		MemoryShort: memoryShort, Panicked: g.recovery.Report, HTTPSSE: g.o.Config.Server.OldTransport,
	}}
}

// newDeployer returns what makes the deployments of configurations. updates receives the outcomes of their sources.
func (g *Gateway) newDeployer(updates chan source.Update) *generation.Deployer {
	return &generation.Deployer{
		Local: g.o.Local, Unlocked: g.o.Unlocked, SealKeys: g.keys.of, NewTable: g.server.NewTable, TracerProvider: g.o.TracerProvider, Version: g.o.Version, Now: g.o.Test.Now,
		Guards: &authguard.Builder{
			Clients: g.clients, Replays: g.shared.Replays, Tracer: g.tracer, Metrics: g.metrics, Log: g.log, OnReject: g.server.RefuseToken, Panicked: g.recovery.Report,
			StateDir: g.stateDir(), Recover: g.recovery.Step,
		},
		Sources: &source.Deps{
			Version: g.o.Version, Logger: g.log, Metrics: g.metrics, TracerProvider: g.o.TracerProvider, Now: g.o.Test.Now, Panicked: g.recovery.Report, Keep: g.Keep,
			Pace: g.admission.pace, MaxDocument: g.admission.maxDocument, Documents: g.admission.documents, LargeTexts: g.admission.largeTexts,
			Files: new(filewatch.Notifier), Store: g.store, Updates: updates, Accounts: g.accounts, SharedCache: g.shared.Answers != nil, Advise: g.o.Advise, TryUsualPaths: g.o.TryUsualPaths, Transport: g.o.Test.Service, Instances: g.instances,
		},
	}
}

// stateDir returns server.state_dir; "" if nothing is kept there, as by commands.
func (g *Gateway) stateDir() string {
	if g.o.Local {
		return ""
	}
	return g.o.Config.Server.StateDir.String()
}

// addCalls adds what makes calls and what follows their jobs. The error is that of keys that cannot seal.
func (g *Gateway) addCalls(keys [][]byte) (err error) {
	if g.cursors, err = endpoint.NewCursors(keys); err != nil {
		return err
	}
	if g.links, err = mcp.NewSealedHandles(keys, "drawbridge link"); err != nil {
		return err
	}
	if g.logins, err = mcp.NewSealer(keys, "drawbridge registration"); err != nil {
		return err
	}
	g.answers = cache.New(int64(g.o.Config.Limits.Cache), g.o.Test.Now, g.recovery.Report)
	if g.shared.Answers != nil {
		g.answers.With(g.shared.Answers)
	}
	if g.files, err = newFileStore(&g.o, keys); err != nil {
		return err
	}
	g.calls = &call.Runner{
		Log: g.log, Metrics: g.metrics, Tracer: g.tracer, Operations: g.operations, Audit: g.o.Audit, History: g.newHistory(), Cache: g.answers,
		Admission: g.admission.calls, Responses: g.admission.responses, Local: g.o.Local, Drift: g.drift,
	}
	if g.files != nil {
		g.calls.Files, g.calls.Inline = g.files, int(g.o.Config.FileStore.Inline)
		for _, pass := range g.o.Config.FileStore.Pass {
			g.calls.FilePairs = append(g.calls.FilePairs, call.FilePair{From: pass.From, To: pass.To})
		}
	}
	g.tools = &deliver.Tools{Calls: g.calls, Jobs: polling.Jobs{Jitter: g.o.Test.Jitter}, Results: deliver.Results{Links: g.links}}
	g.tasks, err = task.New(keys, task.Options{
		Records: g.shared.Tasks, Locks: g.shared.Locks, Publish: g.shared.TaskChanged, Calls: g.calls, Results: g.tools.Results, Log: g.log, Metrics: g.metrics, Responses: g.admission.responses,
		BaseURL: g.base, Keep: g.Keep, Survive: g.recovery.Step, Endpoint: g.callEndpoint,
		Broker: func(endpoint string) *mcp.Broker { return g.mcpHandlers.BrokerOf(endpoint) },
	})
	return err
}

// addHandlers adds the MCP handlers of the endpoints.
func (g *Gateway) addHandlers(keys [][]byte) {
	o := resource.SubscriptionOptions{Calls: g.calls, Log: g.log, Metrics: g.metrics, Endpoint: g.resources}
	g.methods = callMethods(g.tools, g.tasks, g.denials, g.metrics, g.log)
	h := endpoint.HandlersOptions{
		Version: g.o.Version, Current: g.endpoints, Cursors: g.cursors,
		Calls: g.methods, Metrics: g.metrics,
		Admission: g.server.Admission, Connections: g.connections,
		AuthorizeBatch: (&endpoint.BatchAuthorizer{Calls: g.calls, Denials: g.denials}).Authorize, SubscribeTask: g.tasks.Subscribe,
		Revocations: g.shared.Ended, SpentNonces: g.shared.Spent, Relay: func(name string) mcp.RelayFunc { return g.shared.Relay(name) }, Panicked: g.recovery.Report, Log: g.log,
		Observe: telemetry.NewRequestLog(telemetry.RequestLogOptions{Metrics: g.metrics, Logger: g.log, ClientAddress: g.clients.Address, Operations: g.operations,
			Check: func(r *http.Request) *telemetry.PendingCheck { return &inbound.From(r.Context()).Check }, Now: g.o.Test.Now}).Observe,
	}
	if g.o.Local {
		a := &await{served: g.served, firstAttempt: func() <-chan struct{} { return g.runner.FirstAttempt() }}
		o.Await, h.Await = a.resources, a.endpoint
	}
	g.subscriptions = resource.NewSubscriptions(o)
	h.SubscribeResource = g.subscriptions.Subscribe
	g.mcpHandlers = endpoint.NewHandlers(h, g.o.Config, keys)
	g.inProcess = &inProcess{served: g.served, toolCalls: g.tools, handlers: g.mcpHandlers}
}

// newPublisher returns what builds generations and serves them.
func (g *Gateway) newPublisher() *publisher {
	p := &publisher{
		names:  toolname.New(toolname.Options{Dir: g.o.Config.Server.StateDir.String(), ConfigFile: g.o.ConfigFile, Logger: g.log, Recover: g.recovery.Step}),
		served: g.served, handlers: g.mcpHandlers, answers: g.answers, clients: g.clients, untrusted: g.untrusted, pace: g.admission.pace, metrics: g.metrics, log: g.log,
		builder: &generation.Builder{
			Version: g.o.Version, PublicURL: g.base, GuessedJob: job.Guess(), Tasks: g.tasks, Links: g.links, Files: g.files, Embeddings: g.embeddings, Pace: g.admission.pace, Metrics: g.metrics, Log: g.log,
			Handler: func(name, title, instructions string) http.Handler {
				return g.mcpHandlers.Named(name, title, instructions)
			},
		},
		rekey: []func([][]byte) error{g.cursors.Sealer.Rekey, g.links.Rekey, g.logins.Rekey, g.tokens.Rekey, g.tasks.Handles.Rekey, g.tasks.Callbacks.Rekey, g.shared.Rekey},
	}
	if g.files != nil {
		p.rekey = append(p.rekey, g.files.Rekey)
	}
	return p
}

// addRoutes adds what is served to clients, services and operators.
func (g *Gateway) addRoutes() {
	g.public = g.server.Routes(endpoint.RoutesOptions{
		Callback: g.tasks.ServeCallback, Keys: endpoint.ServeKeys(g.identity.Load), Metadata: endpoint.ServeMetadata(g.guards.Load),
		Registration: g.newRegistration().ServeHTTP, Account: account.NewServer(g.accounts).ServeHTTP, Calls: g.methods,
	})
	g.admin = admin.Handler(admin.Options{
		Status: g.Status, AcceptLoss: g.AcceptLoss, Report: g.Report, Metrics: g.o.Metrics, Reload: g.Reload, Accept: g.Accept,
		Clean: answer.CleanData, Access: func() *admin.Access { return g.requestSettings().Access },
		Console: g.newConsole(),
	})
}

// newRecorder returns the recorder of the access that the configuration in use grants; nil if nothing is recorded.
func newRecorder(o *Options, r *recovery.Recoverer) *widening.Recorder {
	if o.ConfigFile == "" {
		return nil
	}
	return widening.NewRecorder(widening.RecorderOptions{
		ConfigFile: o.ConfigFile, Dirs: append([]string{o.Config.Server.StateDir.String()}, o.StateDirs...), Logger: o.Logger, Recover: r.Step,
	})
}
