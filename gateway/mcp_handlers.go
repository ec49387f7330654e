package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
)

// mcpHandler is the MCP handler of one endpoint across reloads: it holds the sessions and requests of its clients.
type mcpHandler struct {
	*mcp.Handler
	broker  *mcp.Broker
	httpSSE *mcp.HTTPSSETransport // nil if HTTP+SSE is off
}

// mcpHandlers are the MCP handlers of all endpoints by name; the name of /mcp is "". They are safe for concurrent use.
type mcpHandlers struct {
	o         mcpHandlersOptions
	methods   mcp.Methods
	broker    mcp.BrokerOptions // common to all brokers
	readers   mcp.SlowReaders
	waits     mcp.ElicitationLimit
	listeners mcp.StreamLimit
	calls     mcp.Calls

	mu       sync.Mutex
	handler  mcp.Options // common to all handlers
	config   *config.Config
	byName   map[string]*mcpHandler
	removed  []*mcp.Broker // of removed endpoints, whose last streams may be open
	shutDown bool          // all streams have ended, and new ones are refused
}

// mcpHandlersOptions are the dependencies of [mcpHandlers].
type mcpHandlersOptions struct {
	version     string              // of the program
	current     func() *endpointSet // the endpoints that are served now; never nil
	cursors     *cursors
	calls       callMethods
	admission   *requestAdmission
	connections *listener.Limiter
	// authorizeBatch returns an error unless the caller may make every request of a batch.
	authorizeBatch    func(ctx context.Context, requests []*mcp.Request) error
	subscribeResource func(ctx context.Context, s mcp.Subscription) (release func(), err error)
	subscribeTask     func(ctx context.Context, sub mcp.Subscriber, id string) (key string, release func(), err error)
	revocations       mcp.Revocations // ended sessions
	spentNonces       mcp.SpentNonces // used consents
	// relay returns the function that sends messages to the handlers of an endpoint on other replicas; nil if there are none.
	relay    func(endpoint string) mcp.RelayFunc
	observe  func(*http.Request, mcp.Event)
	panicked func(what string, v any)
	log      *slog.Logger
	// await returns the endpoint that a request over stdio names as soon as it is available; nil if stdio is not served. The
	// operator of the process has no rate limits, and its handlers are never removed.
	await func(ctx context.Context, name string, req *mcp.Request) (*endpoint, error)
}

func newMCPHandlers(o mcpHandlersOptions, c *config.Config, keys [][]byte) *mcpHandlers {
	s := &mcpHandlers{o: o, methods: methods(&lists{o.cursors}, o.calls), byName: map[string]*mcpHandler{}, readers: mcp.SlowReaders{
		Reuse: listener.ServeAgain, OnTimeout: func() { o.connections.GaveUp(listener.Answer) },
	}}
	s.handler = mcp.Options{
		Name: "drawbridge", Version: o.version,
		Capabilities:       capabilities(),
		Principal:          func(ctx context.Context) string { return auth.FromContext(ctx).ID() },
		Revocations:        o.revocations,
		SpentNonces:        o.spentNonces,
		Batch:              o.authorizeBatch,
		Admit:              o.admission.admit,
		LowMemory:          o.admission.lowMemory,
		RequestID:          func(ctx context.Context) string { return call.InfoFrom(ctx).ID() },
		Logger:             o.log,
		Observe:            o.observe,
		OnPanic:            o.panicked,
		RunAfterMiddleware: runAfterMiddleware,
		SlowReaders:        &s.readers,
		ElicitationLimit:   &s.waits,
		Calls:              &s.calls,
	}
	if o.await != nil {
		s.handler.Admit = nil
		s.methods = awaitEndpoint(s.methods, o.await)
	}
	s.broker = mcp.BrokerOptions{
		ListVersion: s.listVersion, SubscribeTask: o.subscribeTask, SubscribeResource: o.subscribeResource, Address: anonymousAddress,
		AuthorizedUntil: authorizedUntil, Outdated: s.outdated, StreamLimit: &s.listeners, LowMemory: o.admission.lowMemory,
		OnLimit: o.admission.refuseStream, OnPanic: o.panicked,
	}
	s.reload(c, keys)
	return s
}

// reload applies the settings of a configuration that end nothing under way to all present and future handlers.
func (s *mcpHandlers) reload(c *config.Config, keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := mcp.ReloadableOptions{
		MaxBody: int64(c.Limits.MaxBody), MaxDepth: c.Limits.MaxDepth, KeepAlive: time.Duration(c.Server.KeepAlive), SealKeys: keys,
		MaxStreamAge: time.Duration(c.Limits.MaxStreamAge), Sessionless: c.AllowsSessionless(),
	}
	if s.o.await != nil {
		t.KeepAlive = 0 // no proxies in between
	}
	s.handler.MaxBody, s.handler.MaxDepth, s.handler.KeepAlive, s.handler.SealKeys, s.config = t.MaxBody, t.MaxDepth, t.KeepAlive, t.SealKeys, c
	s.handler.MaxStreamAge, s.handler.Sessionless = t.MaxStreamAge, t.Sessionless
	s.waits.SetMax(c.Limits.MaxCalls)
	s.listeners.SetLimits(c.Limits.MaxStreams, c.Limits.MaxStreamsPerCaller)
	for _, h := range s.byName {
		if err := h.Reload(t); err != nil {
			s.o.log.Error("sessions are still sealed with the keys of before", "error", err)
		}
	}
}

// main returns the handler of /mcp.
func (s *mcpHandlers) main(c *config.Config) *mcpHandler {
	return s.named("", "", c.Server.Instructions)
}

// named returns the handler of an endpoint. An existing handler keeps its title and instructions until [mcpHandlers.retain].
func (s *mcpHandlers) named(name, title, instructions string) *mcpHandler {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.byName[name]; known != nil {
		return known
	}
	o := s.handler
	o.Title, o.Instructions = titleOf(title), instructions
	o.Broker, o.Relay = mcp.NewBroker(s.broker), s.o.relay(name)
	next := &mcpHandler{broker: o.Broker, Handler: mcp.NewHandler(s.methods, o)}
	if s.config.Server.OldTransport {
		next.httpSSE = mcp.NewHTTPSSETransport(next.Handler, messagesPath(s.config, name))
	}
	if s.shutDown {
		endStreams(next.broker)
	}
	s.byName[name] = next
	return next
}

// titleOf returns the title of an endpoint, which the configuration may leave out.
func titleOf(title string) string { return cmp.Or(title, "Drawbridge") }

// retain gives the handlers of a configuration's endpoints their titles and instructions. It removes the handlers of other
// endpoints and ends their streams.
func (s *mcpHandlers) retain(c *config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	retained := map[string]bool{"": true}
	s.byName[""].SetServerInfo(titleOf(""), c.Server.Instructions)
	for _, e := range c.Endpoints {
		retained[e.Name] = true
		s.byName[e.Name].SetServerInfo(titleOf(e.Title), e.Instructions)
	}
	s.removed = slices.DeleteFunc(s.removed, func(b *mcp.Broker) bool { return b.Streams() == 0 })
	for name, h := range s.byName {
		if !retained[name] && s.o.await == nil { // a stdio connection keeps its handler
			delete(s.byName, name)
			endStreams(h.broker)
			s.removed = append(s.removed, h.broker)
		}
	}
}

// brokerOf returns the broker of an endpoint, or nil if there is none.
func (s *mcpHandlers) brokerOf(name string) *mcp.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.byName[name]; h != nil {
		return h.broker
	}
	return nil
}

// listsChanged makes all open streams check their lists for changes.
func (s *mcpHandlers) listsChanged(lists mcp.List) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.byName {
		h.broker.ListsChanged(lists)
	}
}

// disconnectAll ends all open streams. Clients reconnect, and their tokens are verified again.
func (s *mcpHandlers) disconnectAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.byName {
		h.broker.DisconnectAll()
	}
}

// sessionEnded ends the local state of a session that another replica has ended.
func (s *mcpHandlers) sessionEnded(session string) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.byName))
	s.mu.Unlock()
	for _, h := range all {
		h.SessionEnded(session)
	}
}

// receiveRelayed delivers a message from another replica to the handler of its endpoint. The message is the name of the
// endpoint, a line break, and the sealed message of the handler.
func (s *mcpHandlers) receiveRelayed(message []byte) {
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
		s.o.log.Warn("another replica has told what can't be read", "error", err)
	}
}

// streams returns the number of open streams.
func (s *mcpHandlers) streams() (n int) {
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

// endAllStreams ends the streams of all brokers and refuses new ones. It returns the brokers without waiting for them.
func (s *mcpHandlers) endAllStreams() []*mcp.Broker {
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
func (s *mcpHandlers) listVersion(ctx context.Context, v mcp.Subscriber, list mcp.List) string {
	info := call.InfoOf(ctx)
	if info == nil {
		return ""
	}
	e := s.o.current().endpoint(info.EndpointName)
	if e == nil {
		return ""
	}
	return e.listVersion(list, v.Revision, auth.FromContext(ctx))
}

// outdated reports whether the guard that admitted a request is no longer the current one. New endpoints are served before
// open streams are ended, so a stream that opens later is detected here.
func (s *mcpHandlers) outdated(ctx context.Context) bool {
	set, e := s.o.current(), endpointFrom(ctx)
	return set.main != nil && e != nil && e.mainGuard != set.main.Guard
}

// anonymousAddress returns the address of a request, or "" if no limit counts it.
func anonymousAddress(ctx context.Context) string {
	if v := call.InfoFrom(ctx); v.Address != (clientip.Key{}) {
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
