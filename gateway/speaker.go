package gateway

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/mcp"
)

// speaker speaks the protocol at one endpoint, in all of its generations: it holds what its clients have under way.
type speaker struct {
	*mcp.Handler
	hub                 *mcp.Hub
	old                 *mcp.OldTransport // nil: it is not served
	title, instructions string
}

// speakers are all of them, by the name of the endpoint; that of the whole is "". They are safe for concurrent use.
type speakers struct {
	g         *Gateway
	readers   mcp.SlowReaders
	waits     mcp.Waits
	listeners mcp.Listeners

	mu      sync.Mutex
	options mcp.Options // what they have in common
	config  *config.Config
	byName  map[string]*speaker
}

func (g *Gateway) newSpeakers(c *config.Config) *speakers {
	s := &speakers{g: g, byName: map[string]*speaker{}, readers: mcp.SlowReaders{Again: serveAgain, GivenUp: g.connections.slow.gaveUp[ofAnswer].Inc}}
	s.options = mcp.Options{
		Name: "drawbridge", Version: g.o.Version,
		Capabilities: capabilities(),
		Principal:    func(ctx context.Context) string { return auth.FromContext(ctx).ID() },
		Revoked:      g.shared.ended,
		Spent:        g.shared.spent,
		Batch:        g.authorizeBatch,
		Admit:        g.admit,
		Crowded:      g.crowdedAt,
		Logger:       g.log,
		Observe:      g.observe,
		Park:         park,
		SlowReaders:  &s.readers,
		Waits:        &s.waits,
	}
	if g.o.Local {
		s.options.Admit = nil // who runs the gateway has no rate
	}
	s.tune(c, g.keysOf(c))
	return s
}

// tune has all speakers, and those to come, follow a configuration in what they need not end anything for.
func (s *speakers) tune(c *config.Config, keys [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := mcp.Tuning{
		MaxBody: int64(c.Limits.MaxBody), MaxDepth: c.Limits.MaxDepth, KeepAlive: cmp.Or(time.Duration(c.Server.KeepAlive), -1), SealKeys: keys,
	}
	if s.g.o.Local {
		t.KeepAlive = -1 // there is nobody between
	}
	s.options.MaxBody, s.options.MaxDepth, s.options.KeepAlive, s.options.SealKeys, s.config = t.MaxBody, t.MaxDepth, t.KeepAlive, t.SealKeys, c
	s.waits.Bound(c.Limits.MaxCalls)
	s.listeners.Bound(c.Limits.MaxStreams, c.Limits.MaxStreamsPerCaller)
	for _, speaker := range s.byName {
		if err := speaker.Tune(t); err != nil {
			s.g.log.Error("sessions are still sealed with the keys of before", "error", err)
		}
	}
}

// whole returns the speaker of /mcp.
func (s *speakers) whole(c *config.Config) *speaker { return s.of("", "", c.Server.Instructions) }

// of returns the speaker of an endpoint, a new one if clients are to be told something else of it.
func (s *speakers) of(name, title, instructions string) *speaker {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.g
	// A conversation over lines has one speaker as long as it lasts.
	if known := s.byName[name]; known != nil && (g.o.Local || known.title == title && known.instructions == instructions) {
		return known
	}
	o := s.options
	o.Title, o.Instructions = cmp.Or(title, "Drawbridge"), instructions
	var hub *mcp.Hub
	hub = mcp.NewHub(mcp.HubOptions{
		View: g.seen, WatchTask: g.watchTask, Address: anonymousAddress, Until: expiry, Listeners: &s.listeners,
		Crowded: g.crowdedAt, Full: g.refuseStream,
		Watch: func(ctx context.Context, v mcp.Viewer, uri string) (func(), error) {
			return g.watches.begin(ctx, hub, v, uri)
		},
	})
	o.Hub, o.Relay = hub, g.shared.relay(name)
	next := &speaker{hub: o.Hub, title: title, instructions: instructions, Handler: mcp.NewHandler(g.local(g.methods()), o)}
	if s.config.Server.OldTransport {
		next.old = mcp.NewOldTransport(next.Handler, messagesPath(s.config, name))
	}
	if old := s.byName[name]; old != nil {
		old.end()
	}
	s.byName[name] = next
	return next
}

// keep forgets the speakers of other endpoints than these, and ends their streams.
func (s *speakers) keep(parts map[string]*endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.byName {
		if name != "" && parts[name] == nil && !s.g.o.Local {
			delete(s.byName, name)
			old.end()
		}
	}
}

// hub returns the hub of an endpoint, nil if there is none.
func (s *speakers) hub(name string) *mcp.Hub {
	s.mu.Lock()
	defer s.mu.Unlock()
	if speaker := s.byName[name]; speaker != nil {
		return speaker.hub
	}
	return nil
}

// changed has all open streams look at their lists again.
func (s *speakers) changed(lists mcp.List) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, speaker := range s.byName {
		speaker.hub.Changed(lists)
	}
}

// restart ends all open streams. Clients open them again, with tokens that are looked at anew.
func (s *speakers) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, speaker := range s.byName {
		speaker.hub.Restart()
	}
}

// streams counts the open streams.
func (s *speakers) streams() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, speaker := range s.byName {
		n += speaker.hub.Streams()
	}
	return n
}

// end makes the open streams end, and refuses new ones. It waits for nothing.
func (s *speaker) end() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.hub.Drain(ctx) // which says that it has not waited
}

// EndStreams ends the streams on which clients wait for changes, modern ones with their result, and refuses new ones; and what
// follows jobs for callers who want to be called. It
// returns when they have ended, or with ctx's error. It is called before the listener is shut down, which waits for
// whatever is open.
func (g *Gateway) EndStreams(ctx context.Context) error {
	g.speakers.mu.Lock()
	var hubs []*mcp.Hub
	for _, s := range g.speakers.byName {
		hubs = append(hubs, s.hub)
		s.end()
	}
	g.speakers.mu.Unlock()
	errs := []error{g.reports.stop(ctx)}
	for _, hub := range hubs {
		errs = append(errs, hub.Drain(ctx))
	}
	return errors.Join(errs...)
}

// EndAnswers returns when all answers are out that [net/http.Server.Shutdown] does not wait for: those that clients were slow to read. It is called after that. When ctx
// ends it cuts those that are not, and returns ctx's error.
func (g *Gateway) EndAnswers(ctx context.Context) error { return g.speakers.readers.End(ctx) }

// EndCalls cancels what still runs for clients of older revisions, whose calls outlive their requests. Those of others end with the
// contexts of their requests, if these have the cause [ErrEnding], and all are answered with an error that says so.
func (g *Gateway) EndCalls() {
	g.speakers.mu.Lock()
	defer g.speakers.mu.Unlock()
	for _, s := range g.speakers.byName {
		s.End()
	}
}

// ErrEnding is the cause with which the contexts of requests are cancelled when the process ends before they do.
var ErrEnding = mcp.ErrEnding

// seen names what a viewer sees of a list now: streams tell their clients of a list if its name has changed. A stream may
// be open for long, so it lets go of the generation in which it was opened.
func (g *Gateway) seen(ctx context.Context, v mcp.Viewer, list mcp.List) string {
	visit, _ := ctx.Value(visitKey{}).(*visit)
	gen := g.current.Load()
	if visit == nil || gen == nil {
		return ""
	}
	visit.endpoint = nil
	e := gen.endpoint(visit.name)
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
	if v := visitFrom(ctx); v.address != (addressKey{}) {
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
