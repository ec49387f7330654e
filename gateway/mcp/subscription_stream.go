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

// keySubscription is the key of _meta with the id of the subscription that a message belongs to.
const keySubscription = "io.modelcontextprotocol/subscriptionId"

// subscriptionStream is one open stream of change notifications. The goroutine of its request only waits, so that its
// stack stays small; another goroutine is started when there is something to send and ends when it is sent.
type subscriptionStream struct {
	broker        *Broker
	subscriber    Subscriber
	lists         List               // lists that the client subscribed to
	listVersions  [len(lists)]string // versions (BrokerOptions.ListVersion) that the client knows
	meta          []byte             // members of each message's _meta; nil if the client is legacy
	subscriptions *subscriptionSet   // of this stream, or of its session
	taskKeys      []string           // keys of the subscribed tasks
	releases      []func()           // release functions of the task subscriptions

	closed chan struct{} // closed by close
	once   sync.Once
	conn   atomic.Pointer[hijackedConn] // nil if waitForEnd does not read from it

	mu         sync.Mutex
	pending    pending
	x          *exchange     // nil before attach and after detach
	delivering bool          // a goroutine sends what is pending
	delivered  chan struct{} // closed when that goroutine has ended; nil unless detach waits for it
	panicked   bool          // a notification panicked
	paused     List          // lists whose changes are held back for a while, because the client was just notified of one
	held       List          // those of them that have changed since
}

// listsPause is the least time between two notifications that a list of a client has changed: changes in between are one. A client reads
// its whole list for each notification, and registries may change many times within moments. The first change is sent at once, and a list
// that is read has each change at once.
const listsPause = 3 * time.Second

// pending is the set of changes that are still to be sent.
type pending struct {
	lists List // to compare with listVersions
	uris  map[string]struct{}
	tasks map[string]Task
}

func (p *pending) empty() bool { return p.lists == 0 && len(p.uris) == 0 && len(p.tasks) == 0 }

func newSubscriptionStream(b *Broker, sub Subscriber) *subscriptionStream {
	return &subscriptionStream{broker: b, subscriber: sub, closed: make(chan struct{})}
}

// enqueue records a change to send. It does not wait.
func (s *subscriptionStream) enqueue(what func(*pending)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	what(&s.pending)
	s.startDelivery()
}

// pause holds back further changes of lists for a while.
func (s *subscriptionStream) pause(of List) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broker.listsPause <= 0 {
		return
	}
	s.paused |= of
	time.AfterFunc(s.broker.listsPause, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endPause(of)
	})
}

// endPause sends notifications of the changes of lists that were held back. The caller holds the lock.
func (s *subscriptionStream) endPause(of List) {
	s.pending.lists |= s.held & of
	s.paused, s.held = s.paused&^of, s.held&^of
	s.startDelivery()
}

// startDelivery starts sending what is pending, if the stream is attached. The caller holds the lock.
func (s *subscriptionStream) startDelivery() {
	if s.x != nil && !s.delivering && !s.pending.empty() {
		s.delivering = true
		go s.deliver()
	}
}

// deliver sends what is pending until nothing is. An error ends the stream.
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

// takePending returns and clears what is pending. If that is nothing, x is nil and the delivery has ended.
func (s *subscriptionStream) takePending() (x *exchange, p pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held |= s.pending.lists & s.paused
	s.pending.lists &^= s.paused
	if s.x == nil || s.pending.empty() {
		s.deliveryEnded()
		return nil, pending{}
	}
	x, p, s.pending = s.x, s.pending, pending{}
	return x, p
}

// fail ends a stream after a failed delivery.
func (s *subscriptionStream) fail(panicked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panicked = panicked
	s.deliveryEnded()
	s.close()
}

// deliveryEnded records that no goroutine sends any more. The caller holds the lock.
func (s *subscriptionStream) deliveryEnded() {
	if s.delivering = false; s.delivered != nil {
		close(s.delivered)
		s.delivered = nil
	}
}

// close ends the stream gracefully.
func (s *subscriptionStream) close() {
	s.once.Do(func() {
		close(s.closed)
		if c := s.conn.Load(); c != nil {
			c.interrupt()
		}
	})
}

// recordListVersions records what the subscriber sees now.
func (s *subscriptionStream) recordListVersions(ctx context.Context) {
	for i, list := range lists {
		if s.lists&list != 0 {
			s.listVersions[i] = s.broker.o.ListVersion(ctx, s.subscriber, list)
		}
	}
}

// run sends changes until the client disconnects, the time is reached or the stream is closed; graceful is false if the
// client has disconnected.
func (s *subscriptionStream) run(ctx context.Context, x *exchange, until time.Time) (graceful bool) {
	if !x.out.healthy() {
		return false
	}
	if !until.IsZero() {
		defer time.AfterFunc(until.Sub(x.h.now()), s.close).Stop()
	}
	x.out.onKeepAlive(func() { x.closeIfRevoked(ctx) }, s.close)
	s.attach(x)
	if graceful = s.waitForEnd(ctx, x); graceful {
		s.flush()
	}
	s.detach()
	return graceful && x.out.healthy()
}

// waitForEnd returns true when the stream is closed, false when the client has disconnected.
func (s *subscriptionStream) waitForEnd(ctx context.Context, x *exchange) bool {
	if c := x.continuation.conn; c != nil {
		s.conn.Store(c)
		if !s.isClosed() { // else close may have come before
			c.waitForClose()
		}
		return s.isClosed()
	}
	return s.waitForContext(ctx, x.inputEnded)
}

// waitForContext is waitForEnd for a stream whose connection is not hijacked.
func (s *subscriptionStream) waitForContext(ctx context.Context, ending <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-s.closed:
	case <-ending:
	}
	return ctx.Err() == nil
}

// isClosed reports whether close was called.
func (s *subscriptionStream) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// attach starts the delivery of changes.
func (s *subscriptionStream) attach(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.x = x
	s.startDelivery()
}

// flush sends notifications of changes that were held back before the stream ends: the client would know the new lists when it opens another one, and
// not be notified.
func (s *subscriptionStream) flush() {
	s.mu.Lock()
	s.endPause(s.paused)
	s.awaitDelivery()
}

// awaitDelivery returns when no goroutine sends any more, unless changes come. The caller holds the lock, which it releases.
func (s *subscriptionStream) awaitDelivery() {
	var delivered chan struct{}
	if s.delivering {
		delivered = make(chan struct{})
		s.delivered = delivered
	}
	s.mu.Unlock()
	if delivered != nil {
		<-delivered
	}
}

// detach stops the delivery of changes. When it returns no goroutine sends any more.
func (s *subscriptionStream) detach() {
	s.mu.Lock()
	s.x = nil
	s.awaitDelivery()
	if s.panicked {
		panic(http.ErrAbortHandler) // only a closed connection tells the client
	}
}

// sendPending sends notifications of what is pending. For a list it does so only if its version has changed.
func (s *subscriptionStream) sendPending(ctx context.Context, w *responseWriter, p pending) error {
	var told List
	for i, list := range lists {
		if p.lists&list == 0 {
			continue
		}
		now := s.broker.o.ListVersion(ctx, s.subscriber, list)
		if now == s.listVersions[i] {
			continue
		}
		s.listVersions[i] = now
		told |= list
		if err := s.sendNotification(w, list.notification(), nil); err != nil {
			return err
		}
	}
	if told != 0 {
		s.pause(told)
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

// sendNotification sends one notification; params are the members of its params.
func (s *subscriptionStream) sendNotification(w *responseWriter, method string, params []byte) error {
	text := make([]byte, 0, len(s.meta)+len(params)+16)
	if s.meta != nil {
		text = append(append(append(text, `"_meta":{`...), s.meta...), "},"...)
	}
	text = trimComma(append(text, params...))
	w.sse.mu.Lock() // over HTTP+SSE other goroutines write to the stream
	defer w.sse.mu.Unlock()
	if w.sse.ended {
		return errAnswered
	}
	return w.sendMessage(func() { w.writeNotification(method, Chunk{Bytes: text}) })
}

// observableLists returns the lists whose changes clients are notified of.
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

// supportsResourceSubscriptions reports whether clients can subscribe to resources.
func (h *Handler) supportsResourceSubscriptions() bool {
	return h.o.Capabilities.Resources && h.o.Broker != nil && h.o.Broker.o.SubscribeResource != nil
}

// serveSubscriptionsListen answers subscriptions/listen (2026-07-28 patterns/subscriptions).
func (h *Handler) serveSubscriptionsListen(ctx context.Context, req *Request, reply *Reply) error {
	x, broker := reply.x, h.o.Broker
	if a := req.HTTP.Header["Accept"]; len(a) > 0 && !acceptsAny(a, "text/event-stream", "text/*", "*/*") {
		return httpError(http.StatusNotAcceptable, "the answer is an event stream: accept text/event-stream")
	}
	f, fault := parseFilter(jsonscan.Lookup(req.Params, "notifications"), broker.o.MaxSubscriptions)
	if fault != nil {
		return fault
	}
	if f.hasTasks && !req.Client.Has(ClientTasks) {
		return missingCapability(ClientTasks)
	}
	s := newSubscriptionStream(broker, broker.subscriberOf(req))
	if fault := broker.addStream(s, req); fault != nil {
		return fault
	}
	s.subscriptions = &subscriptionSet{subscriber: s.subscriber, stream: s, byURI: make(map[string]resourceSubscription)}
	id := slices.Clone(req.ID)
	defer func() {
		if x.continuation == nil { // after a panic
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

// acknowledge makes the subscriptions that are permitted and returns the members of the acknowledgement.
func (s *subscriptionStream) acknowledge(ctx context.Context, h *Handler, f *subscriptionFilter) []byte {
	ack := []byte(`"notifications":{`)
	s.setLists(f.lists & h.observableLists())
	s.recordListVersions(ctx)
	for i, list := range lists {
		if s.lists&list != 0 {
			ack = append(ack, `"`+listFilterKeys[i]+`":true,`...)
		}
	}
	if f.hasURIs && h.supportsResourceSubscriptions() {
		ack = append(ack, `"resourceSubscriptions":[`...)
		for _, uri := range f.uris {
			if h.subscriptionGranted(ctx, "resource", s.broker.subscribe(ctx, s.subscriptions, uri)) {
				ack = append(jsonscan.AppendString(ack, uri), ',')
			}
		}
		ack = append(trimComma(ack), "],"...)
	}
	if f.hasTasks && s.broker.o.SubscribeTask != nil {
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

// subscriptionGranted reports whether a subscription was granted. The client gets no reason for those that were not; an
// error that is not a refusal is logged.
func (h *Handler) subscriptionGranted(ctx context.Context, what string, err error) bool {
	var e *Error
	if err != nil && !errors.As(err, &e) && ctx.Err() == nil {
		h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a subscription failed", slog.String("to", what), slog.Any("error", err))
	}
	return err == nil
}

// setLists sets the lists that the stream is notified of from now on.
func (s *subscriptionStream) setLists(of List) {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	s.lists = of
}

// subscribeTask subscribes a stream to a task.
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

// authorizedUntil returns when the caller's authorization to listen ends.
func (b *Broker) authorizedUntil(ctx context.Context) time.Time {
	if b.o.AuthorizedUntil == nil {
		return time.Time{}
	}
	return b.o.AuthorizedUntil(ctx)
}

// streamDeadline returns when a stream that is opened now ends at the latest: with the caller's authorization or by
// age. The ages vary, so that streams that were opened together, as after a restart, don't reconnect together. The zero
// time means no limit.
func (x *exchange) streamDeadline(ctx context.Context) time.Time {
	until, age := x.h.o.Broker.authorizedUntil(ctx), x.h.reloadable.Load().MaxStreamAge
	if age <= 0 || x.inputEnded != nil { // stdio: a legacy client opens no other stream
		return until
	}
	return earliest(until, x.h.now().Add(age-age/10+rand.N(age/5+1))) //nolint:gosec // no secret
}

// earliest returns the earlier of two times, of which the zero time is never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// subscriberOf returns the caller of a request as a subscriber.
func (b *Broker) subscriberOf(r *Request) Subscriber {
	sub := Subscriber{Principal: r.Principal, Family: r.Family, Revision: r.Revision, Client: r.Client, Query: r.Query()}
	if b.o.Address != nil && sub.Principal == "" {
		sub.Address = b.o.Address(r.HTTP.Context())
	}
	return sub
}

// abandonReply ends a stream without a response.
func (x *exchange) abandonReply() {
	x.out.endEvents()
	x.reply.answered, x.out.complete = true, true
}
