package mcp

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Subscriber is the caller that is notified through an open stream.
type Subscriber struct {
	Principal string
	// Address identifies an anonymous subscriber for limits; "" if it is not counted.
	Address  string
	Family   RevisionFamily
	Revision string
	Client   ClientCapabilities
	Query    string // see [Request]
}

// LimitKey returns the key by which limits count the subscriber, "" if it is not counted.
func (sub Subscriber) LimitKey() string {
	if sub.Principal != "" {
		return sub.Principal
	}
	return sub.Address
}

// Subscription is a subscription of a subscriber to the updates of a resource.
type Subscription struct {
	Subscriber Subscriber
	URI        string
	// Notify notifies this subscriber that the resource has changed. It may be called at any time, even after the
	// release; it has an effect as long as the subscriber has a subscription to the resource, even a later one. So when
	// one subscription replaces another (Renewal), a change that both find may be sent twice, which costs the client a
	// read; otherwise a change that only the first has found would be lost. It is safe for concurrent use and does not
	// wait.
	Notify func()
	// Renewal is true if the subscriber has a subscription by the authorization of an earlier request, which may
	// expire. That one is released as soon as this one is granted, and stays if this one is refused.
	Renewal bool
}

// BrokerOptions are the parameters of a [Broker]. The functions are called by the goroutines of requests, concurrently
// and without a lock held. ctx carries the values of the request that opened the stream, possibly long ago: its caller
// is right, but its view of the configuration is outdated. An *Error is sent to the client if there is a response.
type BrokerOptions struct {
	// ListVersion identifies the content of one list as the subscriber sees it now. A stream is notified of a change
	// only if the version has changed. It is called for each stream after each [Broker.ListsChanged], so it should be
	// fast. If nil, list changes are neither sent nor declared.
	ListVersion func(ctx context.Context, sub Subscriber, list List) string
	// SubscribeResource is called before a stream or a session subscribes to a resource; an error refuses the
	// subscription. release is called once, when the subscription ends. If nil, there are no resource subscriptions.
	SubscribeResource func(ctx context.Context, s Subscription) (release func(), err error)
	// SubscribeTask is called before a stream subscribes to the task that the client knows as id; key is the name that
	// [Broker.TaskChanged] uses. If nil, there are no task subscriptions.
	SubscribeTask func(ctx context.Context, sub Subscriber, id string) (key string, release func(), err error)
	// AuthorizedUntil returns when the caller's authorization to listen ends; the stream ends then, and the client has
	// to reconnect with a new token. If it is nil or returns the zero time, streams have no such limit.
	AuthorizedUntil func(ctx context.Context) time.Time
	// Outdated reports whether the access rules have changed since the request was admitted; it is then refused with
	// 503. Code that changes the rules calls [Broker.DisconnectAll] afterwards, so that one of the two finds each
	// stream. It may be nil.
	Outdated func(ctx context.Context) bool

	// Address returns the network address of an anonymous caller for limits, "" if it is not to be counted. It must not
	// look like a principal. It may be nil.
	Address func(ctx context.Context) string

	// LowMemory reports whether memory is short; no stream is opened for the request then, and it is refused with 503.
	// It may be nil.
	LowMemory func(r *http.Request) bool
	// OnLimit is called for each request that is refused because of too many open streams or sessions with
	// subscriptions; ofCaller is true if the limit of the caller was reached, false if the total was. It may be nil.
	OnLimit func(req *Request, ofCaller bool, status int)
	// OnPanic is called with each recovered panic that belongs to no request. It may be nil.
	OnPanic func(what string, v any)
	// StreamLimit limits streams and sessions; [StreamLimit.SetLimits] changes its limits. If nil, the broker has its
	// own, with the two limits that follow.
	StreamLimit *StreamLimit
	// MaxStreams limits the open streams; further ones are refused with 503. Zero means no limit.
	MaxStreams int
	// MaxPerPrincipal limits the open streams of one principal, and the sessions in which it has subscriptions but no
	// stream; further ones are refused with 429. A session above the limit loses its subscriptions when its stream
	// ends. Anonymous callers are counted by their address. Zero means no limit.
	MaxPerPrincipal int
	// MaxSubscriptions limits the resources and tasks of one stream or session. The default is 256.
	MaxSubscriptions int
}

// Broker notifies subscribed clients of changes: stateless clients by subscriptions/listen, legacy clients on the
// stream that they open with GET. Notifications are not queued: a stream keeps a set of pending changes, so that
// changes that come faster than a client reads are merged, and a slow reader delays no other. Each stream has a
// goroutine that waits for its end, and one while there is something to send; Drain waits for both. All methods are
// safe for concurrent use.
type Broker struct {
	o          BrokerOptions
	listsPause time.Duration // see the constant

	mu       sync.Mutex
	streams  map[*subscriptionStream]struct{}
	tasks    map[string]map[*subscriptionStream]string // the streams that are subscribed to a task, with the id that each knows
	sessions map[[16]byte]*subscriptionSet             // sessions with subscriptions or a stream
	drained  bool

	running sync.WaitGroup // counts the open streams
}

// NewBroker returns a broker for one [Handler].
func NewBroker(o BrokerOptions) *Broker {
	if o.StreamLimit == nil {
		o.StreamLimit = &StreamLimit{max: o.MaxStreams, maxPerCaller: o.MaxPerPrincipal}
	}
	if o.OnPanic == nil {
		o.OnPanic = func(string, any) {}
	}
	if o.MaxSubscriptions <= 0 {
		o.MaxSubscriptions = 256
	}
	return &Broker{
		o: o, listsPause: listsPause, streams: make(map[*subscriptionStream]struct{}),
		tasks:    make(map[string]map[*subscriptionStream]string),
		sessions: make(map[[16]byte]*subscriptionSet),
	}
}

// ListsChanged makes each stream compare the lists with what its client knows, and notify the client of those that
// differ. It does not wait for that.
func (b *Broker) ListsChanged(changed List) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		if of := s.lists & changed; of != 0 {
			s.enqueue(func(p *pending) { p.lists |= of })
		}
	}
}

// TaskChanged notifies the subscribers of a task of its new state. The ID in t is ignored: each client gets the one
// that it knows. It does not wait.
func (b *Broker) TaskChanged(key string, t Task) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s, id := range b.tasks[key] {
		s.enqueue(func(p *pending) {
			if p.tasks == nil {
				p.tasks = make(map[string]Task)
			}
			t.ID = id
			p.tasks[key] = t
		})
	}
}

// Streams returns the number of open streams.
func (b *Broker) Streams() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.streams)
}

// Drain ends all streams, those of stateless clients with their result (mcp-S3), and refuses new ones with 503. It
// returns when all have ended, or with the context's error. It may be called more than once.
func (b *Broker) Drain(ctx context.Context) error {
	b.mu.Lock()
	b.drained = true
	b.mu.Unlock()
	b.DisconnectAll() // no new ones are admitted
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		b.running.Wait()
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// DisconnectAll ends all streams and all subscriptions of sessions. Clients may reconnect and are authorized again. It
// does not wait until the streams have ended.
func (b *Broker) DisconnectAll() {
	b.mu.Lock()
	for s := range b.streams {
		s.close()
	}
	sessions := slices.Collect(maps.Keys(b.sessions))
	b.mu.Unlock()
	for _, id := range sessions {
		b.endSession(id)
	}
}

// addStream admits the stream of a request. The caller must call removeStream.
func (b *Broker) addStream(s *subscriptionStream, req *Request) *Error {
	if b.o.LowMemory != nil && b.o.LowMemory(req.HTTP) {
		return RetryLater(http.StatusServiceUnavailable, 10*time.Second, "there is no room for more streams")
	}
	refused, full := b.admitStream(s)
	b.reportLimit(req, refused, full)
	if refused != nil {
		return refused
	}
	entered := false
	defer func() {
		if !entered {
			b.removeStream(s)
		}
	}()
	if refused = b.checkOutdated(req); refused == nil {
		entered = true
	}
	return refused
}

// checkOutdated refuses a request that was admitted by former access rules. It is called once DisconnectAll would find
// what the request has begun.
func (b *Broker) checkOutdated(req *Request) *Error {
	if b.o.Outdated != nil && b.o.Outdated(req.HTTP.Context()) {
		return RetryLater(http.StatusServiceUnavailable, time.Second, "the configuration has changed meanwhile: ask again")
	}
	return nil
}

// reportLimit calls OnLimit if a limit was reached.
func (b *Broker) reportLimit(req *Request, refused *Error, full limitHit) {
	if full != withinLimit && b.o.OnLimit != nil {
		b.o.OnLimit(req, full == callerLimitHit, refused.HTTPStatus)
	}
}

// admitStream counts a stream, or returns the error and the limit that refuses it.
func (b *Broker) admitStream(s *subscriptionStream) (*Error, limitHit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drained {
		return RetryLater(http.StatusServiceUnavailable, time.Second, "the server is about to end"), withinLimit
	}
	switch full := b.o.StreamLimit.addStream(s.subscriber.LimitKey()); full {
	case totalLimitHit:
		return RetryLater(http.StatusServiceUnavailable, 30*time.Second, "too many streams are open"), full
	case callerLimitHit:
		return RetryLater(http.StatusTooManyRequests, 30*time.Second, "too many streams are open for this caller: at most %d", b.o.StreamLimit.callerLimit()), full
	case withinLimit:
	}
	b.streams[s] = struct{}{}
	b.running.Add(1)
	return nil, withinLimit
}

// removeStream removes a stream, even if a release function panics.
func (b *Broker) removeStream(s *subscriptionStream) {
	defer b.running.Done()
	defer releaseAll(s.releases)
	defer b.unregister(s)
	if s.subscriptions != nil && s.subscriber.Family == Stateless {
		b.endSubscriptions(s.subscriptions)
	}
}

// unregister removes a stream and its task subscriptions.
func (b *Broker) unregister(s *subscriptionStream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.streams, s)
	b.o.StreamLimit.removeStream(s.subscriber.LimitKey())
	for _, key := range s.taskKeys {
		delete(b.tasks[key], s)
		if len(b.tasks[key]) == 0 {
			delete(b.tasks, key)
		}
	}
}
