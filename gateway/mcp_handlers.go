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

// mcpHandler speaks the protocol at one endpoint, in all of its generations: it holds what its clients have under way.
type mcpHandler struct {
	*mcp.Handler
	broker *mcp.Broker
	old    *mcp.HTTPSSETransport // nil: it is not served
}

// mcpHandlers are the handlers of all endpoints by name; the name of /mcp is "". They are safe for concurrent use.
type mcpHandlers struct {
	g         *Gateway
	readers   mcp.SlowReaders
	waits     mcp.ElicitationLimit
	listeners mcp.StreamLimit
	calls     mcp.Calls

	mu      sync.Mutex
	options mcp.Options // what they have in common
	config  *config.Config
	byName  map[string]*mcpHandler
	ending  []*mcp.Broker // of endpoints that are gone, whose last streams may be open
	ended   bool          // all streams have ended, and there are to be no more
}

func (g *Gateway) newSpeakers(c *config.Config, keys [][]byte) *mcpHandlers {
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
		s.options.Admit = nil // who runs the gateway has no rate
	}
	s.tune(c, keys)
	return s
}

// tune makes all handlers, and those to come, follow the settings of a configuration that end nothing under way.
func (s *mcpHandlers) tune(c *config.Config, keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := mcp.ReloadableOptions{
		MaxBody: int64(c.Limits.MaxBody), MaxDepth: c.Limits.MaxDepth, KeepAlive: time.Duration(c.Server.KeepAlive), SealKeys: keys,
		MaxStreamAge: time.Duration(c.Limits.MaxStreamAge), Sessionless: c.AllowsSessionless(),
	}
	if s.g.o.Local {
		t.KeepAlive = 0 // there is nobody between
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

// whole returns the handler of /mcp.
func (s *mcpHandlers) whole(c *config.Config) *mcpHandler { return s.of("", "", c.Server.Instructions) }

// of returns the handler of an endpoint. One that is there goes on to say of itself what it does, until [mcpHandlers.settle].
func (s *mcpHandlers) of(name, title, instructions string) *mcpHandler {
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

// titleOf is what an endpoint calls itself, whose title the configuration may leave out.
func titleOf(title string) string { return cmp.Or(title, "Drawbridge") }

// settle makes the handlers of a configuration's endpoints say what it says of them. It forgets those of others, and ends their streams.
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
		if !stay[name] && !s.g.o.Local { // a conversation over stdio has one handler as long as it lasts
			delete(s.byName, name)
			endStreams(old.broker)
			s.ending = append(s.ending, old.broker)
		}
	}
}

// broker returns the broker of an endpoint, nil if there is none.
func (s *mcpHandlers) broker(name string) *mcp.Broker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mcpHandler := s.byName[name]; mcpHandler != nil {
		return mcpHandler.broker
	}
	return nil
}

// changed has all open streams look at their lists again.
func (s *mcpHandlers) changed(lists mcp.List) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mcpHandler := range s.byName {
		mcpHandler.broker.ListsChanged(lists)
	}
}

// restart ends all open streams. Clients open them again, with tokens that are looked at anew.
func (s *mcpHandlers) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mcpHandler := range s.byName {
		mcpHandler.broker.DisconnectAll()
	}
}

// endedElsewhere ends what there is here of a session that another replica has ended.
func (s *mcpHandlers) endedElsewhere(session string) {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.byName))
	s.mu.Unlock()
	for _, mcpHandler := range all {
		mcpHandler.SessionEnded(session)
	}
}

// streams counts the open streams.
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

// end ends the streams of all brokers, and of those to come. It returns the brokers, and waits for nothing.
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

// endStreams makes the open streams of a broker end, and refuses new ones. It waits for nothing.
func endStreams(h *mcp.Broker) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.Drain(ctx) // which says that it has not waited
}

// EndStreams ends the streams on which clients wait for changes, modern ones with their result, and refuses new ones; and what
// follows jobs for callers who want to be called. It
// returns when they have ended, or with ctx's error. It is called when the listener is shut down, which waits for
// whatever is open.
func (g *Gateway) EndStreams(ctx context.Context) error {
	brokers := g.mcpHandlers.end()
	errs := []error{g.reports.stop(ctx)}
	for _, broker := range brokers {
		errs = append(errs, broker.Drain(ctx))
	}
	return errors.Join(errs...)
}

// EndAnswers returns when all answers are out that [net/http.Server.Shutdown] does not wait for: those that clients were slow to read. It is called after that. When ctx
// ends it cuts those that are not, and returns ctx's error.
func (g *Gateway) EndAnswers(ctx context.Context) error { return g.mcpHandlers.readers.Drain(ctx) }

// EndCalls cancels what still runs for clients of older revisions, whose calls outlive their requests. Those of others end with the
// contexts of their requests, if these have the cause [ErrEnding], and all are answered with an error that says so.
func (g *Gateway) EndCalls() { g.mcpHandlers.calls.Shutdown() }

// ErrEnding is the cause with which the contexts of requests are cancelled when the process ends before they do.
var ErrEnding = mcp.ErrShutdown

// seen names what a viewer sees of a list now: streams tell their clients of a list if its name has changed.
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

// anonymousAddress names the address of a request, "" for one that is not counted.
func anonymousAddress(ctx context.Context) string {
	if v := requestInfoFrom(ctx); v.address != (clientip.Key{}) {
		return v.address.String()
	}
	return ""
}

// expiry is when the caller's token begins to be refused, which ends the right to listen; zero without a token. Streams
// that ended before would be opened again at once, and again, with a token that is still good.
func expiry(ctx context.Context) time.Time {
	if p := auth.FromContext(ctx); p != nil {
		return p.Until()
	}
	return time.Time{}
}

// outdated tells whether the guard that let a request in is no longer the one in use. publish ends what is open after the new one is: a
// stream that comes later is found here.
func (g *Gateway) outdated(ctx context.Context) bool {
	gen, e := g.current.Load(), endpointFrom(ctx)
	return gen != nil && e != nil && e.gen.whole.guard != gen.whole.guard
}
