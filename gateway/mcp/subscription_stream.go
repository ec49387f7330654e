package mcp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/openapi/jsonscan"
)

// keySubscription is the key of _meta that names the subscription of a message.
const keySubscription = "io.modelcontextprotocol/subscriptionId"

// listener is one open stream of changes. The goroutine of its request does nothing but
// wait, so that its stack stays small; another one is started when there is something
// to tell, and ends when it is told.
type listener struct {
	hub     *Hub
	viewer  Viewer
	lists   List               // that it is told of
	seen    [len(lists)]string // what the client knows of each: names of HubOptions.View
	meta    []byte             // members of each message's _meta; nil in the legacy era
	watcher *watcher           // of a modern stream, or of the session
	keys    []string           // of the tasks it watches
	release []func()           // for these

	ended chan struct{} // closed by finish
	once  sync.Once
	conn  atomic.Pointer[takenConn] // that wait reads from; nil: it does not

	mu      sync.Mutex
	pending pending
	x       *exchange     // of the stream; nil: it can't be told anything yet, or any more
	telling bool          // a goroutine tells what is pending
	told    chan struct{} // closed when it has ended; nil: nobody waits for that
	failed  bool          // it panicked
}

// pending is what a stream has still to tell.
type pending struct {
	lists List // to look at again
	uris  map[string]struct{}
	tasks map[string]Task
}

func (p *pending) empty() bool { return p.lists == 0 && len(p.uris) == 0 && len(p.tasks) == 0 }

func newListener(h *Hub, v Viewer) *listener {
	return &listener{hub: h, viewer: v, ended: make(chan struct{})}
}

// mark notes that something is to be told. It does not wait.
func (l *listener) mark(what func(*pending)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what(&l.pending)
	l.begin()
}

// begin has told what is pending, if there is somebody to tell. The caller holds the
// lock.
func (l *listener) begin() {
	if l.x != nil && !l.telling && !l.pending.empty() {
		l.telling = true
		go l.work()
	}
}

// work tells what is pending until nothing is. What can't be told ends the stream.
func (l *listener) work() {
	var x *exchange
	defer func() {
		if v := recover(); v != nil {
			x.event.Code = x.panicked("panic in a stream of changes", v).Code
			l.fail(true)
		}
	}()
	for {
		var p pending
		if x, p = l.next(); x == nil {
			return
		}
		if l.tell(x.req.HTTP.Context(), &x.out, p) != nil {
			l.fail(false)
			return
		}
	}
}

// next takes what is pending; x is nil if that is nothing, and then nobody tells it any
// more.
func (l *listener) next() (x *exchange, p pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.x == nil || l.pending.empty() {
		l.rest()
		return nil, pending{}
	}
	x, p, l.pending = l.x, l.pending, pending{}
	return x, p
}

// fail ends a stream that could not be told something.
func (l *listener) fail(panicked bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = panicked
	l.rest()
	l.finish()
}

// rest notes that nobody tells what is pending any more. The caller holds the lock.
func (l *listener) rest() {
	if l.telling = false; l.told != nil {
		close(l.told)
		l.told = nil
	}
}

// finish ends the stream, as a drain does.
func (l *listener) finish() {
	l.once.Do(func() {
		close(l.ended)
		if c := l.conn.Load(); c != nil {
			c.interrupt()
		}
	})
}

// look remembers what the viewer sees now.
func (l *listener) look(ctx context.Context) {
	for i, list := range lists {
		if l.lists&list != 0 {
			l.seen[i] = l.hub.o.View(ctx, l.viewer, list)
		}
	}
}

// run tells changes until the client leaves, the time is up or the stream is to end;
// graceful tells that the client is still there.
func (l *listener) run(ctx context.Context, x *exchange, until time.Time) (graceful bool) {
	if !x.out.intact() {
		return false
	}
	if !until.IsZero() {
		defer time.AfterFunc(until.Sub(x.h.now()), l.finish).Stop()
	}
	x.out.watch(func() { x.revoked(ctx) }, l.finish)
	l.attach(x)
	graceful = l.wait(ctx, x)
	l.detach()
	return graceful && x.out.intact()
}

// wait returns when the stream is to end, or, false then, when the client has left.
func (l *listener) wait(ctx context.Context, x *exchange) bool {
	if c := x.listens.conn; c != nil {
		l.conn.Store(c)
		if !l.over() { // else finish may have come before
			c.wait()
		}
		return l.over()
	}
	return l.idle(ctx, x.ending)
}

// idle is wait for a stream whose connection tells nothing but by its context.
func (l *listener) idle(ctx context.Context, ending <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-l.ended:
	case <-ending:
	}
	return ctx.Err() == nil
}

// over tells whether the stream is to end.
func (l *listener) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// attach lets the stream be told of changes.
func (l *listener) attach(x *exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.x = x
	l.begin()
}

// detach ends that. When it returns nobody tells the stream anything.
func (l *listener) detach() {
	l.mu.Lock()
	l.x = nil
	var told chan struct{}
	if l.telling {
		told = make(chan struct{})
		l.told = told
	}
	l.mu.Unlock()
	if told != nil {
		<-told
	}
	if l.failed {
		panic(http.ErrAbortHandler) // only a broken connection tells the client
	}
}

// tell writes what is pending. A list is told of only if it looks different now.
func (l *listener) tell(ctx context.Context, s *stream, p pending) error {
	for i, list := range lists {
		if p.lists&list == 0 {
			continue
		}
		now := l.hub.o.View(ctx, l.viewer, list)
		if now == l.seen[i] {
			continue
		}
		l.seen[i] = now
		if err := l.send(s, list.notification(), nil); err != nil {
			return err
		}
	}
	for uri := range p.uris {
		if err := l.send(s, "notifications/resources/updated", jsonscan.AppendString([]byte(`"uri":`), uri)); err != nil {
			return err
		}
	}
	for _, t := range p.tasks {
		if err := l.send(s, "notifications/tasks", t.append(nil, true)); err != nil {
			return err
		}
	}
	return nil
}

// send writes one notification; params are the members of its params.
func (l *listener) send(s *stream, method string, params []byte) error {
	text := make([]byte, 0, len(l.meta)+len(params)+16)
	if l.meta != nil {
		text = append(append(append(text, `"_meta":{`...), l.meta...), "},"...)
	}
	text = trimComma(append(text, params...))
	s.live.mu.Lock() // the old transport has others that write here
	defer s.live.mu.Unlock()
	if s.live.over {
		return errAnswered
	}
	return s.message(func() { s.notification(method, Chunk{Bytes: text}) })
}

// changing returns the lists whose changes are told.
func (h *Handler) changing() (l List) {
	if h.o.Hub == nil || h.o.Hub.o.View == nil {
		return 0
	}
	c := h.o.Capabilities
	for i, there := range [len(lists)]bool{c.Tools, c.Prompts, c.Resources} {
		if there {
			l |= lists[i]
		}
	}
	return l
}

// subscribes tells whether updates of single resources are told.
func (h *Handler) subscribes() bool {
	return h.o.Capabilities.Resources && h.o.Hub != nil && h.o.Hub.o.Watch != nil
}

// listen answers subscriptions/listen (2026-07-28 patterns/subscriptions).
func (h *Handler) listen(ctx context.Context, req *Request, reply *Reply) error {
	x, hub := reply.x, h.o.Hub
	if a := req.HTTP.Header["Accept"]; len(a) > 0 && !listed(a, "text/event-stream", "text/*", "*/*") {
		return refusal(http.StatusNotAcceptable, "the answer is an event stream: accept text/event-stream")
	}
	f, fault := parseFilter(jsonscan.Lookup(req.Params, "notifications"), hub.o.MaxWatches)
	if fault != nil {
		return fault
	}
	if f.taskIDs && !req.Client.Has(ClientTasks) {
		return missing(ClientTasks)
	}
	l := newListener(hub, hub.viewer(req))
	if fault := hub.enter(l, req); fault != nil {
		return fault
	}
	l.watcher = &watcher{viewer: l.viewer, stream: l, uris: make(map[string]subscribed)}
	id := slices.Clone(req.ID)
	defer func() {
		if x.listens == nil { // a panic
			hub.leave(l)
		}
	}()
	l.meta = append([]byte(`"`+keySubscription+`":`), id...)
	ack := l.acknowledge(ctx, h, &f)
	until := x.until(ctx)
	x.req.ID, x.req.Params, x.req.Meta = id, nil, Meta{} // the body is not needed any more
	x.reply.answered = true
	x.listens = &streaming{
		begin: func() error { return l.send(&x.out, "notifications/subscriptions/acknowledged", ack) },
		run: func(ctx context.Context) {
			defer hub.leave(l)
			graceful := l.run(ctx, x, until)
			if x.reply.answered = false; !graceful || reply.ResultMeta(l.meta) != nil {
				x.leave()
			}
			x.hangUp()
		},
	}
	return nil
}

// acknowledge begins with what the client has asked for, as far as it may, and returns
// the members of the acknowledgement.
func (l *listener) acknowledge(ctx context.Context, h *Handler, f *filter) []byte {
	ack := []byte(`"notifications":{`)
	l.hear(f.lists & h.changing())
	l.look(ctx)
	for i, list := range lists {
		if l.lists&list != 0 {
			ack = append(ack, `"`+filterLists[i]+`":true,`...)
		}
	}
	if f.resources && h.subscribes() {
		ack = append(ack, `"resourceSubscriptions":[`...)
		for _, uri := range f.uris {
			if h.granted(ctx, "resource", l.hub.watch(ctx, l.watcher, uri)) {
				ack = append(jsonscan.AppendString(ack, uri), ',')
			}
		}
		ack = append(trimComma(ack), "],"...)
	}
	if f.taskIDs && l.hub.o.WatchTask != nil {
		ack = append(ack, `"taskIds":[`...)
		for _, id := range f.tasks {
			if h.granted(ctx, "task", l.hub.watchTask(ctx, l, id)) {
				ack = append(jsonscan.AppendString(ack, id), ',')
			}
		}
		ack = append(trimComma(ack), "],"...)
	}
	return append(trimComma(ack), '}')
}

// granted tells whether a subscription was allowed. Why not is not told to the client,
// who learns the rest; what is no refusal is for the log.
func (h *Handler) granted(ctx context.Context, what string, err error) bool {
	var e *Error
	if err != nil && !errors.As(err, &e) && ctx.Err() == nil {
		h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a subscription failed", slog.String("to", what), slog.Any("error", err))
	}
	return err == nil
}

// hear makes the stream look at lists, from now on.
func (l *listener) hear(of List) {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	l.lists = of
}

// watchTask makes a stream be told of a task.
func (h *Hub) watchTask(ctx context.Context, l *listener, id string) error {
	key, release, err := h.o.WatchTask(ctx, l.viewer, id)
	if err != nil {
		return err
	}
	if release == nil {
		release = func() {}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tasks[key] == nil {
		h.tasks[key] = make(map[*listener]string)
	}
	h.tasks[key][l] = id
	l.keys, l.release = append(l.keys, key), append(l.release, release)
	return nil
}

// until returns when the caller's right to listen ends.
func (h *Hub) until(ctx context.Context) time.Time {
	if h.o.Until == nil {
		return time.Time{}
	}
	return h.o.Until(ctx)
}

// until returns when a stream that is opened now ends at the latest: with the caller's right to listen, or of age. Ages differ, so that streams
// that were opened together, as after a restart, do not come again together. The zero time: never.
func (x *exchange) until(ctx context.Context) time.Time {
	until, age := x.h.o.Hub.until(ctx), x.h.tuning.Load().MaxStreamAge
	if age <= 0 || x.ending != nil { // lines: a legacy client opens no other stream
		return until
	}
	return earlier(until, x.h.now().Add(age-age/10+rand.N(age/5+1))) //nolint:gosec // no secret
}

// earlier is the earlier of two times of which the zero one is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// viewer is the caller of a request.
func (h *Hub) viewer(r *Request) Viewer {
	v := Viewer{Principal: r.Principal, Era: r.Era, Revision: r.Revision, Client: r.Client}
	if h.o.Address != nil && v.Principal == "" {
		v.Address = h.o.Address(r.HTTP.Context())
	}
	return v
}

// leave ends a stream without an answer.
func (x *exchange) leave() {
	x.out.settle()
	x.reply.answered, x.out.complete = true, true
}
