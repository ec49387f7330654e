package endpoint

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// Handler is the MCP handler of one endpoint across reloads: it holds the sessions and requests of its clients.
type Handler struct {
	*mcp.Handler
	broker  *mcp.Broker
	httpSSE *mcp.HTTPSSETransport // nil if HTTP+SSE is off
}

// Handlers are the MCP handlers of all endpoints by name; the name of /mcp is "". They are safe for concurrent use.
type Handlers struct {
	o         HandlersOptions
	methods   mcp.Methods
	broker    mcp.BrokerOptions // common to all brokers
	Readers   mcp.SlowReaders
	waits     mcp.ElicitationLimit
	listeners mcp.StreamLimit
	Calls     mcp.Calls

	mu       sync.Mutex
	handler  mcp.Options // common to all handlers
	config   *config.Config
	byName   map[string]*Handler
	removed  []*mcp.Broker // of removed endpoints, whose last streams may be open
	shutDown bool          // all streams have ended, and new ones are refused
}

// HandlersOptions are the dependencies of [Handlers].
type HandlersOptions struct {
	Version     string        // of the program
	Current     func() *Table // the endpoints that are served now; never nil
	Cursors     *Cursors
	Calls       CallMethods
	Metrics     *telemetry.Metrics
	Admission   *RequestAdmission
	Connections *listener.Limiter
	// AuthorizeBatch returns an error unless the caller may make every request of a batch.
	AuthorizeBatch    func(ctx context.Context, requests []*mcp.Request) error
	SubscribeResource func(ctx context.Context, s mcp.Subscription) (release func(), err error)
	SubscribeTask     func(ctx context.Context, sub mcp.Subscriber, id string) (key string, release func(), err error)
	Revocations       mcp.Revocations // ended sessions
	SpentNonces       mcp.SpentNonces // used consents
	// Relay returns the function that sends messages to the handlers of an endpoint on other replicas, or nil.
	Relay    func(endpoint string) mcp.RelayFunc
	Observe  func(*mcp.Request, mcp.Event, *mcp.Called)
	Panicked func(what string, v any)
	Log      *slog.Logger
	// Await returns the endpoint that a request over stdio names as soon as it is available; nil if stdio is not served. The
	// operator of the process has no rate limits, and its handlers are never removed.
	Await func(ctx context.Context, name string, req *mcp.Request) (*Endpoint, error)
}

// NewHandlers returns the handlers of a configuration; keys seal the handles of sessions.
func NewHandlers(o HandlersOptions, c *config.Config, keys [][]byte) *Handlers {
	s := &Handlers{o: o, methods: newMethods(&lists{o.Cursors}, o.Calls), byName: map[string]*Handler{}, Readers: mcp.SlowReaders{
		Reuse: listener.ServeAgain, OnTimeout: func() { o.Connections.GaveUp(listener.Answer) },
	}}
	capabilities := s.methods.Capabilities()
	capabilities.Logging = true
	s.handler = mcp.Options{
		Version:            o.Version,
		Capabilities:       capabilities,
		Connect:            s.connect,
		Principal:          func(ctx context.Context) string { return auth.FromContext(ctx).ID() },
		Revocations:        o.Revocations,
		SpentNonces:        o.SpentNonces,
		Batch:              o.AuthorizeBatch,
		Admit:              o.Admission.admit,
		LowMemory:          o.Admission.lowMemory,
		RequestID:          func(ctx context.Context) string { return inbound.From(ctx).ID() },
		Logger:             o.Log,
		Observe:            o.Observe,
		OnPanic:            o.Panicked,
		RunAfterMiddleware: runAfterMiddleware,
		SlowReaders:        &s.Readers,
		ElicitationLimit:   &s.waits,
		Calls:              &s.Calls,
	}
	if o.Await != nil {
		s.handler.Admit = nil
		s.methods = awaitEndpoint(s.methods, o.Await)
	}
	s.broker = mcp.BrokerOptions{
		ListVersion: s.listVersion, SubscribeTask: o.SubscribeTask, SubscribeResource: o.SubscribeResource, Address: anonymousAddress,
		AuthorizedUntil: authorizedUntil, Outdated: s.outdated, StreamLimit: &s.listeners, LowMemory: o.Admission.lowMemory,
		OnLimit: o.Admission.refuseStream, OnPanic: o.Panicked,
	}
	s.Reload(c, keys)
	return s
}

// Reload applies the settings of a configuration that end nothing under way to all present and future handlers.
func (s *Handlers) Reload(c *config.Config, keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := mcp.ReloadableOptions{
		MaxBody: int64(c.Limits.MaxBody), MaxDepth: c.Limits.MaxDepth, KeepAlive: time.Duration(c.Server.KeepAlive), SealKeys: keys,
		MaxStreamAge: time.Duration(c.Limits.MaxStreamAge), Sessionless: c.AllowsSessionless(),
		SessionLife: time.Duration(c.Server.SessionLife),
	}
	if s.o.Await != nil {
		t.KeepAlive = 0 // no proxies in between
	}
	s.handler.ReloadableOptions, s.config = t, c
	s.waits.SetMax(c.Limits.MaxCalls)
	s.listeners.SetLimits(c.Limits.MaxStreams, c.Limits.MaxStreamsPerCaller)
	for _, h := range s.byName {
		if err := h.Reload(t); err != nil {
			s.o.Log.Error("sessions are still sealed with the previous keys", "error", err)
		}
	}
}

// Main returns the handler of /mcp.
func (s *Handlers) Main(c *config.Config) *Handler {
	return s.Named("", "", c.Server.Instructions)
}

// Named returns the handler of an endpoint. An existing handler keeps its title and instructions until [Handlers.Retain].
func (s *Handlers) Named(name, title, instructions string) *Handler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byName[name]; known != nil {
		return known
	}
	o := s.handler
	info := serverInfo(s.config, name)
	info.Title = cmp.Or(title, info.Title) // the endpoint may be new with the configuration to come
	o.Broker, o.Relay = mcp.NewBroker(s.broker), s.o.Relay(name)
	next := &Handler{broker: o.Broker, Handler: mcp.NewHandler(s.methods, o)}
	next.SetServerInfo(info, instructions)
	if s.config.Server.OldTransport {
		next.httpSSE = mcp.NewHTTPSSETransport(next.Handler, messagesPath(s.config, name))
	}
	if s.shutDown {
		endStreams(next.broker)
	}
	s.byName[name] = next
	return next
}

// Retain gives the handlers of a configuration's endpoints their identities and instructions. It removes the handlers of other
// endpoints and ends their streams.
func (s *Handlers) Retain(c *config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	retained := map[string]bool{"": true}
	s.byName[""].SetServerInfo(serverInfo(c, ""), c.Server.Instructions)
	for _, e := range c.Endpoints {
		retained[e.Name] = true
		s.byName[e.Name].SetServerInfo(serverInfo(c, e.Name), e.Instructions)
	}
	s.removed = slices.DeleteFunc(s.removed, func(b *mcp.Broker) bool { return b.Streams() == 0 })
	for name, h := range s.byName {
		if !retained[name] && s.o.Await == nil { // a stdio connection keeps its handler
			delete(s.byName, name)
			endStreams(h.broker)
			s.removed = append(s.removed, h.broker)
		}
	}
}

// BrokerOf returns the broker of an endpoint, or nil if there is none.
func (s *Handlers) BrokerOf(name string) *mcp.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.byName[name]; h != nil {
		return h.broker
	}
	return nil
}

// ListsChanged makes all open streams check their lists for changes.
func (s *Handlers) ListsChanged(lists mcp.List) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.byName {
		h.broker.ListsChanged(lists)
	}
}

// DisconnectAll ends all open streams. Clients reconnect, and their tokens are verified again.
func (s *Handlers) DisconnectAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.byName {
		h.broker.DisconnectAll()
	}
}

// SessionEnded ends the local state of a session that another replica has ended.
func (s *Handlers) SessionEnded(session string) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.byName))
	s.mu.Unlock()
	for _, h := range all {
		h.SessionEnded(session)
	}
}

// ReceiveRelayed delivers a message from another replica to the handler of its endpoint. The message is the name of the
// endpoint, a line break, and the sealed message of the handler.
func (s *Handlers) ReceiveRelayed(message []byte) {
	name, text, ok := strings.Cut(string(message), "\n")
	if !ok {
		return
	}
	s.mu.Lock()
	h := s.byName[name]
	s.mu.Unlock()
	if h == nil {
		return
	}
	if err := h.ReceiveRelayed([]byte(text)); err != nil {
		s.o.Log.Warn("received an unreadable message from another replica", "error", err)
	}
}

// Streams returns the number of open streams.
func (s *Handlers) Streams() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.byName {
		n += h.broker.Streams()
	}
	for _, b := range s.removed {
		n += b.Streams()
	}
	return n
}

// EndAllStreams ends the streams of all brokers and refuses new ones. It returns the brokers without waiting for them.
func (s *Handlers) EndAllStreams() []*mcp.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutDown = true
	brokers := slices.Clone(s.removed)
	for _, h := range s.byName {
		endStreams(h.broker)
		brokers = append(brokers, h.broker)
	}
	return brokers
}

// endStreams ends the open streams of a broker and refuses new ones, without waiting.
func endStreams(b *mcp.Broker) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = b.Drain(ctx) // the error reports that it has not waited
}

// listVersion returns the version of a list as a subscriber sees it now, "" if its endpoint is gone.
func (s *Handlers) listVersion(ctx context.Context, v mcp.Subscriber, list mcp.List) string {
	info := inbound.Of(ctx)
	if info == nil {
		return ""
	}
	e := s.o.Current().Lookup(info.EndpointName)
	if e == nil {
		return ""
	}
	return e.listVersion(list, v.Revision, v.Query, auth.FromContext(ctx))
}

// connect returns the instructions for a client that connects; own are those of the configuration. Over stdio, a client may
// connect before the endpoint is there.
func (s *Handlers) connect(ctx context.Context, req *mcp.Request, own string) (string, error) {
	v := requestFrom(ctx)
	e := v.Endpoint
	if e == nil {
		e = s.o.Current().Lookup(v.EndpointName)
	}
	if e == nil {
		return own, nil
	}
	return e.connect(req, own, auth.FromContext(ctx))
}

// outdated reports whether the guard that admitted a request is no longer the current one. New endpoints are served before
// open streams are ended, so a stream that opens later is detected here.
func (s *Handlers) outdated(ctx context.Context) bool {
	set, e := s.o.Current(), From(ctx)
	return set.Main != nil && e != nil && e.mainGuard != set.Main.Guard
}

// anonymousAddress returns the address of a request, or "" if no limit counts it.
func anonymousAddress(ctx context.Context) string {
	if v := inbound.From(ctx); v.Address != (clientip.Key{}) {
		return v.Address.String()
	}
	return ""
}

// authorizedUntil returns the time at which the caller's token begins to be rejected and its subscriptions end; zero without a
// token. If streams ended earlier, clients would reopen them at once, over and over, with a token that is still valid.
func authorizedUntil(ctx context.Context) time.Time {
	if p := auth.FromContext(ctx); p != nil {
		return p.Until()
	}
	return time.Time{}
}
