package mcp

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Viewer is who looks at a list, a resource or a task through an open stream.
type Subscriber struct {
	Principal string
	// Address is whom an anonymous viewer counts as; "": nobody.
	Address  string
	Family   RevisionFamily
	Revision string
	Client   ClientCapabilities
}

// Caller returns whom the viewer counts as, for bounds alone; "": nobody.
func (v Subscriber) LimitKey() string {
	if v.Principal != "" {
		return v.Principal
	}
	return v.Address
}

// Subscription is a resource of whose updates somebody wants to be told.
type Subscription struct {
	Subscriber Subscriber
	URI        string
	// Tell tells the viewer, and nobody else, that the resource has changed; it may be called at any time, also after the release: as long
	// as the viewer has a subscription of the resource, which may be another by then, it hears of it. So where one takes the place of
	// another (Again), a change that both find may be told twice, which costs the client one more read; else one that only the first has
	// found would be lost. It is safe for concurrent use and does not wait.
	Notify func()
	// Again tells that the viewer hears of it already, by the right of an earlier request, which may end. What that one has is
	// released as soon as this one is there, and stays if this one is refused.
	Renewal bool
}

// HubOptions are a hub's parameters. The functions are called by the goroutines of
// requests, several at once and without a lock held; ctx carries the values of the
// request that opened the stream, which may be long ago: the caller in it is right,
// what it says of the state of the house is old. Errors that are an *Error are
// answered to the client, where there is an answer.
type BrokerOptions struct {
	// View names what the viewer sees of one list now. Equal names are equal lists: a
	// stream is told of a change only if its name has changed. It is asked for each
	// stream after each [Hub.Changed], so it should be quick. nil: changes of lists are
	// not told, nor declared.
	ListVersion func(ctx context.Context, v Subscriber, list List) string
	// Watch is asked before a stream or a session is told of updates of a resource; an
	// error refuses. release is called once when nobody needs the updates any more. nil:
	// there are no resource subscriptions.
	SubscribeResource func(ctx context.Context, s Subscription) (release func(), err error)
	// WatchTask is the same for a task that the client knows as id; key is the name that
	// [Hub.TaskChanged] will use. nil: tasks are not told of.
	SubscribeTask func(ctx context.Context, v Subscriber, id string) (key string, release func(), err error)
	// Until tells when the caller's right to listen ends; the stream ends then, and a
	// client that comes again brings a fresh token. The zero time, and nil: never.
	AuthorizedUntil func(ctx context.Context) time.Time
	// Outdated tells whether those who may listen were others when the request was let in: then there is a 503. Who makes it so calls
	// [Hub.Restart] afterwards, so that one of the two finds each stream. nil: it never is.
	Outdated func(ctx context.Context) bool

	// Address names where an anonymous caller comes from, for bounds alone; "" if that is not
	// to be counted. It must not look like a principal. nil: it never is.
	Address func(ctx context.Context) string

	// Crowded tells whether memory is short: then no stream is opened for the request, and there is a 503. nil: it never is.
	LowMemory func(r *http.Request) bool
	// Full is told of a request that is refused because too many streams are open, or too many sessions have subscriptions:
	// in all, or, ofCaller, of one caller; and of the status. nil: nobody is.
	OnLimit func(req *Request, ofCaller bool, status int)
	// Panicked is told of a panic that no request sees, where it is recovered. nil: nobody is.
	OnPanic func(what string, v any)
	// Listeners counts the streams and sessions. Hubs that share one are bounded together, by its [Listeners.Bound]. nil: the hub has one
	// of its own, with the two that follow.
	StreamLimit *StreamLimit
	// MaxStreams bounds the open streams; above it there is a 503. 0: no bound.
	MaxStreams int
	// MaxPerPrincipal bounds the open streams of one principal, and the sessions without one in which
	// it has subscriptions; above it there is a 429, and a session whose stream ends then loses its subscriptions with it. The anonymous principal is many
	// callers: for it the address counts. 0: no bound.
	MaxPerPrincipal int
	// MaxWatches bounds the resources and tasks of one stream or session. 0: 256.
	MaxSubscriptions int
}

// Hub tells the clients that listen what has changed: modern clients by
// subscriptions/listen, legacy ones on the stream that they open with GET. Nothing is
// queued for them: a stream remembers what is still to be told, each thing once, so
// that changes which follow each other faster than a client reads become one, and a
// slow reader holds up nobody. All methods are safe for concurrent use. Each stream has
// a goroutine that waits for its end, and one that tells while there is something to tell;
// Drain waits for both.
type Broker struct {
	o BrokerOptions

	mu       sync.Mutex
	streams  map[*subscriptionStream]struct{}
	tasks    map[string]map[*subscriptionStream]string // who watches a task, and as which id
	sessions map[[16]byte]*subscriptionSet             // sessions with subscriptions, or with a stream
	drained  bool

	running sync.WaitGroup // the open streams
}

// NewHub makes a hub; it belongs to one [Handler].
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
		o: o, streams: make(map[*subscriptionStream]struct{}),
		tasks:    make(map[string]map[*subscriptionStream]string),
		sessions: make(map[[16]byte]*subscriptionSet),
	}
}

// TaskChanged tells who watches a task what has become of it. The task's ID is not
// used: each client is told the one that it knows. It does not wait.
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

// Drain ends every stream, modern ones with their result (mcp-S3), and refuses new
// ones with a 503. It returns when all are gone, or with ctx's error. It may be called
// more than once.
func (b *Broker) Drain(ctx context.Context) error {
	b.mu.Lock()
	b.drained = true
	b.mu.Unlock()
	b.DisconnectAll() // and nobody is let in again
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

// Restart ends every stream and forgets the subscriptions of every session, and goes on: those who want to hear more come again, and
// are asked again who they are. It does not wait for the ends.
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

// enter admits the stream of a request. The caller has to make it leave.
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

// outdated refuses a request that was let in by rules that are gone. It is asked after a restart would find what the request has begun.
func (b *Broker) checkOutdated(req *Request) *Error {
	if b.o.Outdated != nil && b.o.Outdated(req.HTTP.Context()) {
		return RetryLater(http.StatusServiceUnavailable, time.Second, "the configuration has changed meanwhile: ask again")
	}
	return nil
}

// fullness is of what there is too much.
type limitHit uint8

const (
	withinLimit limitHit = iota
	totalLimitHit
	callerLimitHit
)

// tellFull tells who wants to know it of a request that is refused.
func (b *Broker) reportLimit(req *Request, refused *Error, full limitHit) {
	if full != withinLimit && b.o.OnLimit != nil {
		b.o.OnLimit(req, full == callerLimitHit, refused.HTTPStatus)
	}
}

// admit counts a stream, or tells why it does not.
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

// leave forgets a stream, whatever panics meanwhile of what others gave it to release.
func (b *Broker) removeStream(s *subscriptionStream) {
	defer b.running.Done()
	defer releaseAll(s.releases)
	defer b.unregister(s)
	if s.subscriptions != nil && s.subscriber.Family == Stateless {
		b.endSubscriptions(s.subscriptions)
	}
}

// close forgets the place of a stream, and the tasks that it hears of.
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
