package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/truncate"
)

// Bounds of what is watched: each watch is a request to a service now and then.
const (
	maxWatches          = 10_000
	maxWatchesPerCaller = 256 // where callers are known, by a token or by their address
	// maxLooks bounds the answers that are in memory at once, and maxLooksOfAPI those of one API, which may be slow.
	maxLooks      = 64
	maxLooksOfAPI = 16
	// maxBackoff is the power of two by which a service that fails is asked less often, at most.
	maxBackoff = 4
)

// watches look at resources, as long as somebody wants to hear of their changes. There is one watch for a resource, or one
// for each caller where the service gets something of the caller and may give each another answer. Watches outlive
// generations: each look finds its plan, and who is still allowed to hear of it, in the current one. They are safe for
// concurrent use.
type watches struct {
	g *Gateway
	// pause waits, and tells whether ctx has not ended; tests have another.
	pause func(ctx context.Context, d time.Duration) bool
	looks chan struct{} // a place for each that looks now

	mu        sync.Mutex
	all       map[watchKey]*watch
	perCaller map[string]int // members
	ended     bool
	running   sync.WaitGroup
}

// watchKey tells what is watched. Where all get the same answer, caller is "" and headers is the zero digest.
type watchKey struct {
	endpoint, uri, caller string
	headers               [32]byte // of the request, that go on to the service
}

// watch is one resource that is looked at, by a goroutine of its own.
type watch struct {
	watchKey
	cancel  context.CancelFunc
	members []*member // who wants to hear of changes; guarded by watches.mu
}

// member is one who wants to hear of changes.
type member struct {
	viewer  mcp.Subscriber
	tell    func()
	caller  context.Context // carries the caller, and nothing else of the request
	inbound http.Header     // of the request, if some of it goes on to the service
}

func newWatches(g *Gateway) *watches {
	return &watches{g: g, pause: pause, looks: make(chan struct{}, maxLooks), all: map[watchKey]*watch{}, perCaller: map[string]int{}}
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// begin makes a viewer be told of changes of a resource until release is called. The error is for the client.
func (w *watches) begin(ctx context.Context, s mcp.Subscription) (release func(), err error) {
	v, uri, requestInfo := s.Subscriber, s.URI, requestInfoFrom(ctx)
	if w.g.o.Local {
		if _, err := w.g.await(ctx, requestInfo.name, &mcp.Request{Method: "resources/read", URI: uri}); err != nil {
			return nil, err
		}
	}
	m := &member{viewer: v, tell: s.Notify, caller: auth.WithCallerOf(context.Background(), ctx)}
	gen := w.g.current.Load()
	p, args, err := m.reads(ctx, gen, requestInfo.name, uri)
	if err != nil {
		return nil, err
	}
	key := watchKey{endpoint: requestInfo.name, uri: uri}
	if p.personal {
		key.caller = v.Principal
	}
	if p.inbound {
		if err := p.checkPassed(ctx, &inbound{requestInfo.header, gen.endpoint(requestInfo.name).guard}); err != nil {
			return nil, err
		}
		m.inbound = p.passed(requestInfo.header).Clone() // with the values alone: what they stood among is not held
		key.headers = headerDigest(m.inbound)
	}
	w.mu.Lock()
	known, err := w.all[key] != nil, w.full(s)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if !known { // it is read at once
		if err := m.rated(ctx, gen.endpoint(requestInfo.name), p, args, uri); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.full(s); err != nil {
		return nil, err
	}
	w.perCaller[v.LimitKey()]++
	x := w.all[key]
	if x == nil {
		background, cancel := context.WithCancel(context.Background())
		x = &watch{watchKey: key, cancel: cancel}
		w.all[key] = x
		w.running.Go(func() { w.run(background, x) })
	}
	x.members = append(x.members, m)
	return func() { w.leave(x, m) }, nil
}

// full tells why a caller can't begin another watch; nil: he can. One that takes the place of another is no more. The caller holds w.mu.
func (w *watches) full(s mcp.Subscription) error {
	caller := s.Subscriber.LimitKey()
	switch {
	case w.ended, !s.Renewal && len(w.all) >= maxWatches:
		return &mcp.Error{Code: mcp.CodeInternal, Message: "no more resources can be watched now"}
	case !s.Renewal && caller != "" && w.perCaller[caller] >= maxWatchesPerCaller:
		return mcp.InvalidParams("too many subscriptions of this caller: at most %d", maxWatchesPerCaller)
	}
	return nil
}

// rated counts the first look of a watch that the member begins as a call of his.
func (m *member) rated(ctx context.Context, e *endpoint, p *Plan, args []byte, uri string) (err error) {
	c := call{
		g: p.source.g, ctx: ctx, plan: p, endpoint: e, caller: auth.FromContext(m.caller), args: args,
		req: &mcp.Request{Method: "resources/read", Family: m.viewer.Family, Principal: m.viewer.Principal, URI: uri},
	}
	c.enter()
	defer func() { c.leave(err) }()
	if c.callRecord != nil {
		c.callRecord.rpc = "watch"
	}
	return c.rated()
}

// leave takes a member out; the watch ends with the last.
func (w *watches) leave(x *watch, m *member) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.members = slices.DeleteFunc(x.members, func(other *member) bool { return other == m })
	if w.perCaller[m.viewer.LimitKey()]--; w.perCaller[m.viewer.LimitKey()] <= 0 {
		delete(w.perCaller, m.viewer.LimitKey())
	}
	if len(x.members) == 0 {
		x.cancel()
		if w.all[x.watchKey] == x {
			delete(w.all, x.watchKey)
		}
	}
}

// count returns how many resources are watched.
func (w *watches) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// end ends all watches, lets nobody begin one, and waits for those that run.
func (w *watches) end() {
	w.mu.Lock()
	w.ended = true
	for x := range maps.Values(w.all) {
		x.cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
}

// reads returns the plan that reads a resource for the member as things are now, with the arguments of its call. The error
// tells why it may not, or why it would hear of nothing.
func (m *member) reads(ctx context.Context, gen *generation, endpoint, uri string) (*Plan, []byte, error) {
	req := &mcp.Request{Method: "resources/read", Family: m.viewer.Family, Revision: m.viewer.Revision, Principal: m.viewer.Principal, URI: uri}
	if gen == nil || gen.endpoint(endpoint) == nil {
		return nil, nil, req.ResourceNotFound(truncate.Bytes(uri, maxShownURI))
	}
	e := gen.endpoint(endpoint)
	p, args := e.resources.find(uri)
	if p == nil {
		return nil, nil, req.ResourceNotFound(truncate.Bytes(uri, maxShownURI))
	}
	caller := auth.FromContext(m.caller)
	if e.guard != nil {
		if until := callerUntil(caller); !until.IsZero() && time.Now().After(until) {
			return nil, nil, &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "the access token has expired"}
		}
		if denied := e.authorizeRead(caller, p, req); denied != nil {
			return nil, nil, denied
		}
	}
	switch {
	case p.resource.poll == 0:
		return nil, nil, mcp.InvalidParams("changes of this resource are not told: it is not looked at")
	case p.elicitation != nil:
		return nil, nil, mcp.InvalidParams("changes of this resource are not told: each read asks the user")
	case p.consent.needed && (e.guard == nil || len(p.consent.exempt) == 0 || !e.guard.Allows(caller, p.consent.exempt)):
		return nil, nil, mcp.InvalidParams("changes of this resource are not told: each read needs the user's consent")
	}
	args, _, err := p.Operation.Check(args)
	if err != nil {
		var bad *openapi.ArgumentError
		if errors.As(err, &bad) {
			return nil, nil, mcp.InvalidParams("%s", bad.ToolMessage())
		}
		return nil, nil, err
	}
	if p.condition != nil {
		if caller == nil {
			caller = &auth.Principal{}
		}
		if allowed, _ := p.permitted(ctx, caller, args); !allowed {
			return nil, nil, mcp.InvalidParams("%s", notPermitted)
		}
	}
	return p, args, nil
}

// seen is what a watch knows of its resource.
type seen struct {
	known  bool
	digest [32]byte
	// Conditional requests carry what the operation's last answer gave for them.
	of         *openapi.Operation
	validators http.Header
}

// run looks at a resource until ctx ends.
func (w *watches) run(ctx context.Context, x *watch) {
	var known seen
	failures := 0
	for {
		interval, err := w.look(ctx, x, &known)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
		case failures == 0:
			w.g.log.LogAttrs(ctx, slog.LevelInfo, "a resource that is watched could not be read; it is tried again, less often",
				slog.String("resource", truncate.Bytes(x.uri, maxShownURI)), slog.Any("error", err))
			fallthrough
		default:
			failures = min(failures+1, maxBackoff)
		}
		// Up to a tenth sooner or later, so that those that began together don't go on together.
		interval <<= failures
		if !w.pause(ctx, interval+time.Duration((rand.Float64()-.5)/5*float64(interval))) { //nolint:gosec // not a secret
			return
		}
	}
}

// idle is how long it takes to see that somebody may read a resource again which nobody could: it is back, or another has come
// who may.
const idle = 5 * time.Second

// look reads the resource for the first member that may, and tells all that may if it has changed. It returns the time to
// the next look.
func (w *watches) look(ctx context.Context, x *watch, known *seen) (interval time.Duration, err error) {
	interval = idle
	defer func() {
		if v := recover(); v != nil {
			w.g.metrics.Panics.Inc()
			err = fmt.Errorf("panic: %v", v)
			w.g.log.LogAttrs(ctx, slog.LevelError, "panic in a watch", slog.Any("error", err), slog.String("stack", string(debug.Stack())))
		}
	}()
	for _, places := range w.places(x) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-ctx.Done():
			return interval, nil
		}
	}
	w.mu.Lock()
	members := slices.Clone(x.members)
	w.mu.Unlock()
	gen := w.g.current.Load()
	var p *Plan
	for _, m := range slices.Backward(members) { // the last has the freshest token
		var args []byte
		var denied error
		if p, args, denied = m.reads(ctx, gen, x.endpoint, x.uri); denied != nil {
			continue
		}
		if interval = p.resource.poll; p.Operation != known.of {
			known.of, known.validators = p.Operation, nil
		}
		before := *known
		if err = w.read(ctx, gen, x, m, p, args, known); err != nil {
			w.g.metrics.Polled(p.Tool.API, telemetry.PollFailed)
			return interval, err
		}
		if before.known && before.digest == known.digest {
			w.g.metrics.Polled(p.Tool.API, telemetry.PollUnchanged)
			return interval, nil
		}
		w.g.metrics.Polled(p.Tool.API, telemetry.PollChanged)
		if before.known {
			w.tell(ctx, gen, x, members)
		}
		return interval, nil
	}
	return interval, nil // nobody may read it now, which is no failure; what was known is held against what is found then
}

// places are where a look needs a place, in this order: so who waits for one of a slow API has none of those that all share.
func (w *watches) places(x *watch) []chan struct{} {
	gen := w.g.current.Load()
	if gen == nil || gen.endpoint(x.endpoint) == nil {
		return nil
	}
	p, _ := gen.endpoint(x.endpoint).resources.find(x.uri)
	if p == nil {
		return nil
	}
	return []chan struct{}{p.source.looks, w.looks}
}

// newLookPlaces makes the places of an API, which leave most of its room to calls.
func newLookPlaces(maxInFlight int) chan struct{} {
	return make(chan struct{}, min(max(1, maxInFlight/4), maxLooksOfAPI))
}

// tell tells the members that a resource has changed, as far as they may still know of it, and nobody else: what another's request gets
// may be another's.
func (w *watches) tell(ctx context.Context, gen *generation, x *watch, members []*member) {
	for _, m := range members {
		if _, _, err := m.reads(ctx, gen, x.endpoint, x.uri); err == nil {
			m.tell()
		}
	}
}

// headerDigest tells headers apart.
func headerDigest(h http.Header) [32]byte {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(h)) {
		b = append(strconv.AppendQuote(b, name), ':')
		for _, value := range h[name] {
			b = append(strconv.AppendQuote(b, value), ',')
		}
	}
	return sha256.Sum256(b)
}
