package gateway

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
)

// mcpHandler is the MCP handler of one endpoint across generations: it holds the sessions and requests of its clients.
type mcpHandler struct {
	*mcp.Handler
	broker *mcp.Broker
	old    *mcp.HTTPSSETransport // nil if HTTP+SSE is off
}

// mcpHandlers are the MCP handlers of all endpoints by name; the name of /mcp is "". They are safe for concurrent use.
type mcpHandlers struct {
	g         *Gateway
	readers   mcp.SlowReaders
	waits     mcp.ElicitationLimit
	listeners mcp.StreamLimit
	calls     mcp.Calls

	mu      sync.Mutex
	options mcp.Options // common to all handlers
	config  *config.Config
	byName  map[string]*mcpHandler
	ending  []*mcp.Broker // of removed endpoints, whose last streams may be open
	ended   bool          // all streams have ended, and new ones are refused
}

func (g *Gateway) newMCPHandlers(c *config.Config, keys [][]byte) *mcpHandlers {
	s := &mcpHandlers{g: g, byName: map[string]*mcpHandler{}, readers: mcp.SlowReaders{
		Reuse: listener.ServeAgain, OnTimeout: func() { g.connections.GaveUp(listener.Answer) },
	}}
	s.options = mcp.Options{
		Name: "drawbridge", Version: g.o.Version,
		Capabilities:       capabilities(),
		Principal:          func(ctx context.Context) string { return auth.FromContext(ctx).ID() },
		Revocations:        g.shared.ended,
		SpentNonces:        g.shared.spent,
		Batch:              g.authorizeBatch,
		Admit:              g.admit,
		LowMemory:          g.crowdedAt,
		RequestID:          func(ctx context.Context) string { return requestInfoFrom(ctx).request() },
		Logger:             g.log,
		Observe:            g.requests.Observe,
		OnPanic:            g.panicked,
		RunAfterMiddleware: park,
		SlowReaders:        &s.readers,
		ElicitationLimit:   &s.waits,
		Calls:              &s.calls,
	}
	if g.o.Local {
		s.options.Admit = nil // the local operator has no rate limit
	}
	s.tune(c, keys)
	return s
}

// tune applies the settings of a configuration that end nothing under way to all present and future handlers.
func (s *mcpHandlers) tune(c *config.Config, keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := mcp.ReloadableOptions{
		MaxBody: int64(c.Limits.MaxBody), MaxDepth: c.Limits.MaxDepth, KeepAlive: time.Duration(c.Server.KeepAlive), SealKeys: keys,
		MaxStreamAge: time.Duration(c.Limits.MaxStreamAge), Sessionless: c.AllowsSessionless(),
	}
	if s.g.o.Local {
		t.KeepAlive = 0 // no proxies in between
	}
	s.options.MaxBody, s.options.MaxDepth, s.options.KeepAlive, s.options.SealKeys, s.config = t.MaxBody, t.MaxDepth, t.KeepAlive, t.SealKeys, c
	s.options.MaxStreamAge, s.options.Sessionless = t.MaxStreamAge, t.Sessionless
	s.waits.SetMax(c.Limits.MaxCalls)
	s.listeners.SetLimits(c.Limits.MaxStreams, c.Limits.MaxStreamsPerCaller)
	for _, mcpHandler := range s.byName {
		if err := mcpHandler.Reload(t); err != nil {
			s.g.log.Error("sessions are still sealed with the keys of before", "error", err)
		}
	}
}

// main returns the handler of /mcp.
func (s *mcpHandlers) main(c *config.Config) *mcpHandler {
	return s.handler("", "", c.Server.Instructions)
}

// handler returns the handler of an endpoint. An existing handler keeps its title and instructions until [mcpHandlers.settle].
func (s *mcpHandlers) handler(name, title, instructions string) *mcpHandler {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.g
	if known := s.byName[name]; known != nil {
		return known
	}
	o := s.options
	o.Title, o.Instructions = titleOf(title), instructions
	broker := mcp.NewBroker(mcp.BrokerOptions{
		ListVersion: g.seen, SubscribeTask: g.watchTask, Address: anonymousAddress, AuthorizedUntil: expiry, Outdated: g.outdated, StreamLimit: &s.listeners,
		LowMemory: g.crowdedAt, OnLimit: g.refuseStream, OnPanic: g.panicked, SubscribeResource: g.watches.begin,
	})
	o.Broker, o.Relay = broker, g.shared.relay(name)
	next := &mcpHandler{broker: o.Broker, Handler: mcp.NewHandler(g.local(g.methods()), o)}
	if s.config.Server.OldTransport {
		next.old = mcp.NewHTTPSSETransport(next.Handler, messagesPath(s.config, name))
	}
	if s.ended {
		endStreams(next.broker)
	}
	s.byName[name] = next
	return next
}

// titleOf returns the title of an endpoint, which the configuration may leave out.
func titleOf(title string) string { return cmp.Or(title, "Drawbridge") }

// settle gives the handlers of a configuration's endpoints their titles and instructions. It removes the handlers of other
// endpoints and ends their streams.
func (s *mcpHandlers) settle(c *config.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stay := map[string]bool{"": true}
	s.byName[""].SetServerInfo(titleOf(""), c.Server.Instructions)
	for _, e := range c.Endpoints {
		stay[e.Name] = true
		s.byName[e.Name].SetServerInfo(titleOf(e.Title), e.Instructions)
	}
	s.ending = slices.DeleteFunc(s.ending, func(h *mcp.Broker) bool { return h.Streams() == 0 })
	for name, old := range s.byName {
		if !stay[name] && !s.g.o.Local { // a stdio connection keeps its handler
			delete(s.byName, name)
			endStreams(old.broker)
			s.ending = append(s.ending, old.broker)
		}
	}
}

// broker returns the broker of an endpoint, or nil if there is none.
func (s *mcpHandlers) broker(name string) *mcp.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mcpHandler := s.byName[name]; mcpHandler != nil {
		return mcpHandler.broker
	}
	return nil
}

// changed makes all open streams check their lists for changes.
func (s *mcpHandlers) changed(lists mcp.List) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mcpHandler := range s.byName {
		mcpHandler.broker.ListsChanged(lists)
	}
}

// restart ends all open streams. Clients reconnect, and their tokens are verified again.
func (s *mcpHandlers) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mcpHandler := range s.byName {
		mcpHandler.broker.DisconnectAll()
	}
}

// endedElsewhere ends the local state of a session that another replica has ended.
func (s *mcpHandlers) endedElsewhere(session string) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.byName))
	s.mu.Unlock()
	for _, mcpHandler := range all {
		mcpHandler.SessionEnded(session)
	}
}

// streams returns the number of open streams.
func (s *mcpHandlers) streams() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mcpHandler := range s.byName {
		n += mcpHandler.broker.Streams()
	}
	for _, broker := range s.ending {
		n += broker.Streams()
	}
	return n
}

// end ends the streams of all brokers and refuses new ones. It returns the brokers without waiting for them.
func (s *mcpHandlers) end() []*mcp.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	brokers := slices.Clone(s.ending)
	for _, mcpHandler := range s.byName {
		endStreams(mcpHandler.broker)
		brokers = append(brokers, mcpHandler.broker)
	}
	return brokers
}

// endStreams ends the open streams of a broker and refuses new ones, without waiting.
func endStreams(h *mcp.Broker) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.Drain(ctx) // the error reports that it has not waited
}

// EndStreams ends the streams of subscriptions and refuses new ones; streams of the stateless family end with their result. It
// also ends the goroutines that follow jobs with a webhook. It returns when they have ended, or with ctx's error. It is called
// when the listener is shut down, which waits for whatever is open.
func (g *Gateway) EndStreams(ctx context.Context) error {
	brokers := g.mcpHandlers.end()
	errs := []error{g.reports.stop(ctx)}
	for _, broker := range brokers {
		errs = append(errs, broker.Drain(ctx))
	}
	return errors.Join(errs...)
}

// EndAnswers waits for the responses that [net/http.Server.Shutdown] does not wait for: those to slow readers. It is called
// after Shutdown. When ctx ends it cuts the remaining ones and returns ctx's error.
func (g *Gateway) EndAnswers(ctx context.Context) error { return g.mcpHandlers.readers.Drain(ctx) }

// EndCalls cancels the running calls of clients of the legacy family, which outlive their requests. Other calls end with the
// contexts of their requests, if these have the cause [ErrEnding]. All of them are answered with an error that names the
// shutdown.
func (g *Gateway) EndCalls() { g.mcpHandlers.calls.Shutdown() }

// ErrEnding is the cause with which the contexts of requests are cancelled when the process ends first.
var ErrEnding = mcp.ErrShutdown

// seen returns the version of a list as a subscriber sees it now: streams notify their clients when it changes.
func (g *Gateway) seen(ctx context.Context, v mcp.Subscriber, list mcp.List) string {
	requestInfo, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	gen := g.current.Load()
	if requestInfo == nil || gen == nil {
		return ""
	}
	e := gen.endpoint(requestInfo.name)
	if e == nil {
		return ""
	}
	var kinds []listKind
	switch list {
	case mcp.ToolsList:
		kinds = []listKind{toolsKind}
	case mcp.ResourcesList: // templates have no notification of their own
		kinds = []listKind{resourcesKind, templatesKind}
	case mcp.PromptsList:
		kinds = []listKind{promptsKind}
	}
	var seen []byte
	for _, kind := range kinds {
		digest := e.view(kind, e.features(v.Revision), auth.FromContext(ctx)).digest()
		seen = append(seen, digest[:]...)
	}
	return string(seen)
}

// anonymousAddress returns the address of a request, or "" if no limit counts it.
func anonymousAddress(ctx context.Context) string {
	if v := requestInfoFrom(ctx); v.address != (clientip.Key{}) {
		return v.address.String()
	}
	return ""
}

// expiry returns the time at which the caller's token begins to be rejected and its subscriptions end; zero without a token. If
// streams ended earlier, clients would reopen them at once, over and over, with a token that is still valid.
func expiry(ctx context.Context) time.Time {
	if p := auth.FromContext(ctx); p != nil {
		return p.Until()
	}
	return time.Time{}
}

// outdated reports whether the guard that admitted a request is no longer the current one. publish installs the new guard
// before it ends open streams, so a stream that opens later is detected here.
func (g *Gateway) outdated(ctx context.Context) bool {
	gen, e := g.current.Load(), endpointFrom(ctx)
	return gen != nil && e != nil && e.mainGuard != gen.main.guard
}
