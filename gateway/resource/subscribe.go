package resource

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/text"
)

// Limits of subscriptions: each subscribed resource is polled by requests to a service.
const (
	maxWatches          = 10_000
	maxWatchesPerCaller = 256 // if callers are known by a token or by their address
	// maxLooks bounds the poll responses that are in memory at once.
	maxLooks = 64
	// maxBackoff is the maximum power of two by which the poll interval of a failing service grows.
	maxBackoff = 4
)

// Subscriptions poll the resources that clients have subscribed to. There is one watch per resource, or one per caller if the request
// forwards something of the caller and the service may answer each differently. Watches outlive generations: each poll uses the
// plan and the permissions of the current one. They are safe for concurrent use.
type Subscriptions struct {
	SubscriptionOptions
	// Pause waits for d and reports whether ctx is still alive; tests replace it.
	Pause func(ctx context.Context, d time.Duration) bool
	looks chan struct{} // one slot per concurrent poll

	mu        sync.Mutex
	all       map[watchKey]*watch
	perCaller map[string]int // members
	ended     bool
	running   sync.WaitGroup
}

// SubscriptionOptions are everything that watches need of the process.
type SubscriptionOptions struct {
	Calls    *call.Runner
	Log      *slog.Logger
	Metrics  *telemetry.Metrics
	Endpoint func(name string) *View // in use under a name; nil if there is none
	// Await returns the endpoint of a request as soon as it is available; nil if requests don't wait.
	Await func(ctx context.Context, endpoint string, req *mcp.Request) (*View, error)
}

// watchKey identifies a watch. If all callers get the same response, caller is "" and headers is the zero digest.
type watchKey struct {
	endpoint, uri, caller string
	headers               [32]byte // of the request headers that are forwarded to the service
}

// watch is one resource that is polled by its own goroutine.
type watch struct {
	watchKey
	cancel  context.CancelFunc
	members []*member // its subscriptions; guarded by watches.mu
}

// member is one subscription to a resource.
type member struct {
	viewer  mcp.Subscriber
	tell    func()
	caller  auth.Caller
	inbound http.Header // of the request, if some headers are forwarded to the service
}

// NewSubscriptions returns subscriptions without a subscriber. [Subscriptions.End] ends them.
func NewSubscriptions(o SubscriptionOptions) *Subscriptions {
	return &Subscriptions{SubscriptionOptions: o, Pause: pause, looks: make(chan struct{}, maxLooks), all: map[watchKey]*watch{}, perCaller: map[string]int{}}
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

// Subscribe subscribes a client to changes of a resource until release is called. The error is for the client.
func (w *Subscriptions) Subscribe(ctx context.Context, s mcp.Subscription) (release func(), err error) {
	v, uri, request := s.Subscriber, s.URI, inbound.From(ctx)
	if w.Await != nil {
		if _, err := w.Await(ctx, request.EndpointName, &mcp.Request{Method: "resources/read", URI: uri}); err != nil {
			return nil, err
		}
	}
	m := &member{viewer: v, tell: s.Notify, caller: auth.CallerFromContext(ctx)}
	e := w.Endpoint(request.EndpointName)
	p, args, err := m.reads(ctx, e, uri)
	if err != nil {
		return nil, err
	}
	key := watchKey{endpoint: request.EndpointName, uri: uri}
	if p.Personal {
		key.caller = v.Principal
	}
	if p.PassesHeaders {
		if err := p.CheckPassedHeaders(ctx, &source.Inbound{Header: request.Header, Guard: e.Guard}); err != nil {
			return nil, err
		}
		m.inbound = p.PassedHeaders(request.Header).Clone() // a copy, so that the values don't retain the whole header
		key.headers = call.HeaderDigest(m.inbound)
	}
	w.mu.Lock()
	known, err := w.all[key] != nil, w.full(s)
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if !known { // it is read at once
		inv := m.invocation(e.Endpoint, p, args)
		inv.Request, inv.Caller.Address, inv.MemoryChecked = &request.Identifier, request.Address, request.MemoryChecked
		if err := w.Calls.Charge(m.caller.Context(ctx), inv); err != nil {
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

// full returns the error for a caller that can't add a watch, or nil if it can. A renewal replaces a watch and adds none. The
// caller holds w.mu.
func (w *Subscriptions) full(s mcp.Subscription) error {
	caller := s.Subscriber.LimitKey()
	switch {
	case w.ended, !s.Renewal && len(w.all) >= maxWatches:
		return &mcp.Error{Code: mcp.CodeInternal, Message: "no more resources can be watched now"}
	case !s.Renewal && caller != "" && w.perCaller[caller] >= maxWatchesPerCaller:
		return mcp.InvalidParams("too many subscriptions of this caller: at most %d", maxWatchesPerCaller)
	}
	return nil
}

// invocation returns the invocation that polls a resource for the member.
func (m *member) invocation(e *call.Endpoint, p *plan.Plan, args []byte) call.Invocation {
	inv := call.Invocation{
		Endpoint: e, Tool: call.Operation(p), Origin: call.FromSubscription, Method: "resources/read", Arguments: args,
		Caller: call.Caller{ID: m.viewer.Principal, Header: m.inbound, Protocol: call.Protocol{Family: mcp.Stateless, Revision: m.viewer.Revision}},
	}
	if e.Guard != nil {
		inv.Caller.Principal = m.caller.Principal()
	}
	return inv
}

// leave removes a member; the watch ends with its last member.
func (w *Subscriptions) leave(x *watch, m *member) {
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

// Count returns the number of watches.
func (w *Subscriptions) Count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// End ends all watches, refuses new ones, and waits for the running ones.
func (w *Subscriptions) End() {
	w.mu.Lock()
	w.ended = true
	for x := range maps.Values(w.all) {
		x.cancel()
	}
	w.mu.Unlock()
	w.running.Wait()
}

// reads returns the plan that reads a resource of an endpoint, which may be nil, for the member, and the arguments of its call. The error
// says why the member may not read it, or why it would receive no notifications.
func (m *member) reads(ctx context.Context, e *View, uri string) (*plan.Plan, []byte, error) {
	if e == nil {
		return nil, nil, mcp.ResourceNotFound(m.viewer.Family, text.Truncate(uri, MaxShownURI))
	}
	caller := m.caller.Principal()
	if f := e.Skills.File(uri); f != nil && (e.Guard == nil || e.Grants(caller, f.Skill.Needs())) {
		return nil, nil, mcp.InvalidParams("changes of a single file of a skill are not told: notifications/resources/list_changed tells of changes of skills")
	}
	p, args := e.Resources.Find(uri)
	if p == nil {
		return nil, nil, mcp.ResourceNotFound(m.viewer.Family, text.Truncate(uri, MaxShownURI))
	}
	if e.Guard != nil {
		if until := callerUntil(caller); !until.IsZero() && time.Now().After(until) {
			return nil, nil, &mcp.Error{Code: mcp.CodeInvalidRequest, Message: "the access token has expired"}
		}
		if denied := Authorize(e.Endpoint, caller, p, m.viewer.Family, uri); denied != nil {
			return nil, nil, denied
		}
	}
	switch {
	case p.Resource.Poll == 0:
		return nil, nil, mcp.InvalidParams("changes of this resource are not told: it is not looked at")
	case p.Elicitation != nil:
		return nil, nil, mcp.InvalidParams("changes of this resource are not told: each read asks the user")
	case p.Consent.Needed && (e.Guard == nil || len(p.Consent.Exempt) == 0 || !e.Guard.Allows(caller, p.Consent.Exempt)):
		return nil, nil, mcp.InvalidParams("changes of this resource are not told: each read needs the user's consent")
	}
	args, _, err := p.CallerOperation().Check(args)
	if err == nil {
		args, err = p.Arguments.Complete(args, caller)
	}
	if err != nil {
		var told interface{ ToolMessage() string } // of wrong arguments, and of a missing claim
		if errors.As(err, &told) {
			return nil, nil, mcp.InvalidParams("%s", told.ToolMessage())
		}
		return nil, nil, err
	}
	if p.Condition != nil {
		if caller == nil {
			caller = &auth.Principal{}
		}
		if allowed, _ := p.Permits(ctx, caller, args); !allowed {
			return nil, nil, mcp.InvalidParams("%s", call.NotPermitted)
		}
	}
	return p, args, nil
}

// seen is the last known state of a watched resource.
type seen struct {
	known  bool
	digest [32]byte
	// validators are those of the operation's last response, for conditional requests.
	of         *openapi.Operation
	validators http.Header
}

// run polls a resource until ctx ends.
func (w *Subscriptions) run(ctx context.Context, x *watch) {
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
			w.Log.LogAttrs(ctx, slog.LevelInfo, "a subscribed resource could not be read; retrying less often",
				slog.String("resource", text.Truncate(x.uri, MaxShownURI)), slog.Any("error", err))
			fallthrough
		default:
			failures = min(failures+1, maxBackoff)
		}
		// Jitter of up to a tenth keeps watches that began together from polling together.
		interval <<= failures
		if !w.Pause(ctx, interval+time.Duration((rand.Float64()-.5)/5*float64(interval))) { //nolint:gosec // not a secret
			return
		}
	}
}

// idle is the poll interval while no member may read the resource: it may come back, or a new member may be allowed to read it.
const idle = 5 * time.Second

// look reads the resource for the first member that may, and notifies all members that may if it has changed. It returns the
// time to the next poll.
func (w *Subscriptions) look(ctx context.Context, x *watch, known *seen) (interval time.Duration, err error) {
	interval = idle
	defer func() {
		if v := recover(); v != nil {
			w.Metrics.Panics.Inc()
			err = fmt.Errorf("panic: %v", v)
			w.Log.LogAttrs(ctx, slog.LevelError, "panic while polling a subscribed resource", slog.Any("error", err), slog.String("stack", string(debug.Stack())))
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
	e := w.Endpoint(x.endpoint)
	var p *plan.Plan
	for _, m := range slices.Backward(members) { // the last has the newest token
		var args []byte
		var denied error
		if p, args, denied = m.reads(ctx, e, x.uri); denied != nil {
			continue
		}
		if interval = p.Resource.Poll; p.Operation != known.of {
			known.of, known.validators = p.Operation, nil
		}
		before := *known
		if err = w.read(ctx, e.Endpoint, x, m, p, args, known); err != nil {
			w.Metrics.Polled(p.Tool.API, telemetry.PollFailed)
			return interval, err
		}
		if before.known && before.digest == known.digest {
			w.Metrics.Polled(p.Tool.API, telemetry.PollUnchanged)
			return interval, nil
		}
		w.Metrics.Polled(p.Tool.API, telemetry.PollChanged)
		if before.known {
			w.tell(ctx, e, x, members)
		}
		return interval, nil
	}
	return interval, nil // no member may read it now, which is no failure; the next state is compared with the last known one
}

// places returns the semaphores that a poll acquires, in order: a poll that waits for a slow API holds no slot of the shared one.
func (w *Subscriptions) places(x *watch) []chan struct{} {
	e := w.Endpoint(x.endpoint)
	if e == nil {
		return nil
	}
	p, _ := e.Resources.Find(x.uri)
	if p == nil {
		return nil
	}
	return []chan struct{}{p.Source.PollSlots, w.looks}
}

// tell notifies the members that may still read the resource, and no others, since the response to another caller's request may
// differ.
func (w *Subscriptions) tell(ctx context.Context, e *View, x *watch, members []*member) {
	for _, m := range members {
		if _, _, err := m.reads(ctx, e, x.uri); err == nil {
			m.tell()
		}
	}
}
