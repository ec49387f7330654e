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
type subscriptionStream struct {
	broker        *Broker
	subscriber    Subscriber
	lists         List               // that it is told of
	listVersions  [len(lists)]string // what the client knows of each: names of HubOptions.View
	meta          []byte             // members of each message's _meta; nil in the legacy era
	subscriptions *subscriptionSet   // of a modern stream, or of the session
	taskKeys      []string           // of the tasks it watches
	releases      []func()           // for these

	closed chan struct{} // closed by finish
	once   sync.Once
	conn   atomic.Pointer[hijackedConn] // that wait reads from; nil: it does not

	mu         sync.Mutex
	pending    pending
	x          *exchange     // of the stream; nil: it can't be told anything yet, or any more
	delivering bool          // a goroutine tells what is pending
	delivered  chan struct{} // closed when it has ended; nil: nobody waits for that
	panicked   bool          // it panicked
}

// pending is what a stream has still to tell.
type pending struct {
	lists List // to look at again
	uris  map[string]struct{}
	tasks map[string]Task
}

func (p *pending) empty() bool { return p.lists == 0 && len(p.uris) == 0 && len(p.tasks) == 0 }

func newSubscriptionStream(b *Broker, v Subscriber) *subscriptionStream {
	return &subscriptionStream{broker: b, subscriber: v, closed: make(chan struct{})}
}

// mark notes that something is to be told. It does not wait.
func (s *subscriptionStream) enqueue(what func(*pending)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what(&s.pending)
	s.startDelivery()
}

// begin has told what is pending, if there is somebody to tell. The caller holds the
// lock.
func (s *subscriptionStream) startDelivery() {
	if s.x != nil && !s.delivering && !s.pending.empty() {
		s.delivering = true
		go s.deliver()
	}
}

// work tells what is pending until nothing is. What can't be told ends the stream.
func (s *subscriptionStream) deliver() {
	var x *exchange
	defer func() {
		if v := recover(); v != nil {
			x.event.Code = x.panicError("panic in a stream of changes", v).Code
			s.fail(true)
		}
	}()
	for {
		var p pending
		if x, p = s.takePending(); x == nil {
			return
		}
		if s.sendPending(x.req.HTTP.Context(), &x.out, p) != nil {
			s.fail(false)
			return
		}
	}
}

// next takes what is pending; x is nil if that is nothing, and then nobody tells it any
// more.
func (s *subscriptionStream) takePending() (x *exchange, p pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.x == nil || s.pending.empty() {
		s.deliveryEnded()
		return nil, pending{}
	}
	x, p, s.pending = s.x, s.pending, pending{}
	return x, p
}

// fail ends a stream that could not be told something.
func (s *subscriptionStream) fail(panicked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panicked = panicked
	s.deliveryEnded()
	s.close()
}

// rest notes that nobody tells what is pending any more. The caller holds the lock.
func (s *subscriptionStream) deliveryEnded() {
	if s.delivering = false; s.delivered != nil {
		close(s.delivered)
		s.delivered = nil
	}
}

// finish ends the stream, as a drain does.
func (s *subscriptionStream) close() {
	s.once.Do(func() {
		close(s.closed)
		if c := s.conn.Load(); c != nil {
			c.interrupt()
		}
	})
}

// look remembers what the viewer sees now.
func (s *subscriptionStream) recordListVersions(ctx context.Context) {
	for i, list := range lists {
		if s.lists&list != 0 {
			s.listVersions[i] = s.broker.o.ListVersion(ctx, s.subscriber, list)
		}
	}
}

// run tells changes until the client leaves, the time is up or the stream is to end;
// graceful tells that the client is still there.
func (s *subscriptionStream) run(ctx context.Context, x *exchange, until time.Time) (graceful bool) {
	if !x.out.healthy() {
		return false
	}
	if !until.IsZero() {
		defer time.AfterFunc(until.Sub(x.h.now()), s.close).Stop()
	}
	x.out.onKeepAlive(func() { x.closeIfRevoked(ctx) }, s.close)
	s.attach(x)
	graceful = s.waitForEnd(ctx, x)
	s.detach()
	return graceful && x.out.healthy()
}

// wait returns when the stream is to end, or, false then, when the client has left.
func (s *subscriptionStream) waitForEnd(ctx context.Context, x *exchange) bool {
	if c := x.continuation.conn; c != nil {
		s.conn.Store(c)
		if !s.isClosed() { // else finish may have come before
			c.waitForClose()
		}
		return s.isClosed()
	}
	return s.waitForContext(ctx, x.inputEnded)
}

// idle is wait for a stream whose connection tells nothing but by its context.
func (s *subscriptionStream) waitForContext(ctx context.Context, ending <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.closed:
	case <-ending:
	}
	return ctx.Err() == nil
}

// over tells whether the stream is to end.
func (s *subscriptionStream) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// attach lets the stream be told of changes.
func (s *subscriptionStream) attach(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.x = x
	s.startDelivery()
}

// detach ends that. When it returns nobody tells the stream anything.
func (s *subscriptionStream) detach() {
	s.mu.Lock()
	s.x = nil
	var told chan struct{}
	if s.delivering {
		told = make(chan struct{})
		s.delivered = told
	}
	s.mu.Unlock()
	if told != nil {
		<-told
	}
	if s.panicked {
		panic(http.ErrAbortHandler) // only a broken connection tells the client
	}
}

// tell writes what is pending. A list is told of only if it looks different now.
func (s *subscriptionStream) sendPending(ctx context.Context, w *responseWriter, p pending) error {
	for i, list := range lists {
		if p.lists&list == 0 {
			continue
		}
		now := s.broker.o.ListVersion(ctx, s.subscriber, list)
		if now == s.listVersions[i] {
			continue
		}
		s.listVersions[i] = now
		if err := s.sendNotification(w, list.notification(), nil); err != nil {
			return err
		}
	}
	for uri := range p.uris {
		if err := s.sendNotification(w, "notifications/resources/updated", jsonscan.AppendString([]byte(`"uri":`), uri)); err != nil {
			return err
		}
	}
	for _, t := range p.tasks {
		if err := s.sendNotification(w, "notifications/tasks", t.append(nil, true)); err != nil {
			return err
		}
	}
	return nil
}

// send writes one notification; params are the members of its params.
func (s *subscriptionStream) sendNotification(w *responseWriter, method string, params []byte) error {
	text := make([]byte, 0, len(s.meta)+len(params)+16)
	if s.meta != nil {
		text = append(append(append(text, `"_meta":{`...), s.meta...), "},"...)
	}
	text = trimComma(append(text, params...))
	w.sse.mu.Lock() // the old transport has others that write here
	defer w.sse.mu.Unlock()
	if w.sse.ended {
		return errAnswered
	}
	return w.sendMessage(func() { w.writeNotification(method, Chunk{Bytes: text}) })
}

// changing returns the lists whose changes are told.
func (h *Handler) observableLists() (l List) {
	if h.o.Broker == nil || h.o.Broker.o.ListVersion == nil {
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
func (h *Handler) supportsResourceSubscriptions() bool {
	return h.o.Capabilities.Resources && h.o.Broker != nil && h.o.Broker.o.SubscribeResource != nil
}

// listen answers subscriptions/listen (2026-07-28 patterns/subscriptions).
func (h *Handler) serveSubscriptionsListen(ctx context.Context, req *Request, reply *Reply) error {
	x, broker := reply.x, h.o.Broker
	if a := req.HTTP.Header["Accept"]; len(a) > 0 && !acceptsAny(a, "text/event-stream", "text/*", "*/*") {
		return httpError(http.StatusNotAcceptable, "the answer is an event stream: accept text/event-stream")
	}
	f, fault := parseFilter(jsonscan.Lookup(req.Params, "notifications"), broker.o.MaxSubscriptions)
	if fault != nil {
		return fault
	}
	if f.taskIDs && !req.Client.Has(ClientTasks) {
		return missingCapability(ClientTasks)
	}
	s := newSubscriptionStream(broker, broker.subscriberOf(req))
	if fault := broker.addStream(s, req); fault != nil {
		return fault
	}
	s.subscriptions = &subscriptionSet{subscriber: s.subscriber, stream: s, byURI: make(map[string]resourceSubscription)}
	id := slices.Clone(req.ID)
	defer func() {
		if x.continuation == nil { // a panic
			broker.removeStream(s)
		}
	}()
	s.meta = append([]byte(`"`+keySubscription+`":`), id...)
	ack := s.acknowledge(ctx, h, &f)
	until := x.streamDeadline(ctx)
	x.req.ID, x.req.Params, x.req.Meta = id, nil, Meta{} // the body is not needed any more
	x.reply.answered = true
	x.continuation = &continuation{
		first: func() error { return s.sendNotification(&x.out, "notifications/subscriptions/acknowledged", ack) },
		run: func(ctx context.Context) {
			defer broker.removeStream(s)
			graceful := s.run(ctx, x, until)
			if x.reply.answered = false; !graceful || reply.ResultMeta(s.meta) != nil {
				x.abandonReply()
			}
			x.closeHijacked()
		},
	}
	return nil
}

// acknowledge begins with what the client has asked for, as far as it may, and returns
// the members of the acknowledgement.
func (s *subscriptionStream) acknowledge(ctx context.Context, h *Handler, f *subscriptionFilter) []byte {
	ack := []byte(`"notifications":{`)
	s.setLists(f.lists & h.observableLists())
	s.recordListVersions(ctx)
	for i, list := range lists {
		if s.lists&list != 0 {
			ack = append(ack, `"`+listFilterKeys[i]+`":true,`...)
		}
	}
	if f.resources && h.supportsResourceSubscriptions() {
		ack = append(ack, `"resourceSubscriptions":[`...)
		for _, uri := range f.uris {
			if h.subscriptionGranted(ctx, "resource", s.broker.subscribe(ctx, s.subscriptions, uri)) {
				ack = append(jsonscan.AppendString(ack, uri), ',')
			}
		}
		ack = append(trimComma(ack), "],"...)
	}
	if f.taskIDs && s.broker.o.SubscribeTask != nil {
		ack = append(ack, `"taskIds":[`...)
		for _, id := range f.tasks {
			if h.subscriptionGranted(ctx, "task", s.broker.subscribeTask(ctx, s, id)) {
				ack = append(jsonscan.AppendString(ack, id), ',')
			}
		}
		ack = append(trimComma(ack), "],"...)
	}
	return append(trimComma(ack), '}')
}

// granted tells whether a subscription was allowed. Why not is not told to the client,
// who learns the rest; what is no refusal is for the log.
func (h *Handler) subscriptionGranted(ctx context.Context, what string, err error) bool {
	var e *Error
	if err != nil && !errors.As(err, &e) && ctx.Err() == nil {
		h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a subscription failed", slog.String("to", what), slog.Any("error", err))
	}
	return err == nil
}

// hear makes the stream look at lists, from now on.
func (s *subscriptionStream) setLists(of List) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	s.lists = of
}

// watchTask makes a stream be told of a task.
func (b *Broker) subscribeTask(ctx context.Context, s *subscriptionStream, id string) error {
	key, release, err := b.o.SubscribeTask(ctx, s.subscriber, id)
	if err != nil {
		return err
	}
	if release == nil {
		release = func() {}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tasks[key] == nil {
		b.tasks[key] = make(map[*subscriptionStream]string)
	}
	b.tasks[key][s] = id
	s.taskKeys, s.releases = append(s.taskKeys, key), append(s.releases, release)
	return nil
}

// until returns when the caller's right to listen ends.
func (b *Broker) authorizedUntil(ctx context.Context) time.Time {
	if b.o.AuthorizedUntil == nil {
		return time.Time{}
	}
	return b.o.AuthorizedUntil(ctx)
}

// until returns when a stream that is opened now ends at the latest: with the caller's right to listen, or of age. Ages differ, so that streams
// that were opened together, as after a restart, do not come again together. The zero time: never.
func (x *exchange) streamDeadline(ctx context.Context) time.Time {
	until, age := x.h.o.Broker.authorizedUntil(ctx), x.h.reloadable.Load().MaxStreamAge
	if age <= 0 || x.inputEnded != nil { // lines: a legacy client opens no other stream
		return until
	}
	return earliest(until, x.h.now().Add(age-age/10+rand.N(age/5+1))) //nolint:gosec // no secret
}

// earlier is the earlier of two times of which the zero one is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// viewer is the caller of a request.
func (b *Broker) subscriberOf(r *Request) Subscriber {
	v := Subscriber{Principal: r.Principal, Family: r.Family, Revision: r.Revision, Client: r.Client}
	if b.o.Address != nil && v.Principal == "" {
		v.Address = b.o.Address(r.HTTP.Context())
	}
	return v
}

// leave ends a stream without an answer.
func (x *exchange) abandonReply() {
	x.out.endEvents()
	x.reply.answered, x.out.complete = true, true
}
