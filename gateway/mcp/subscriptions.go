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
type Viewer struct {
	Principal string
	// Address is whom an anonymous viewer counts as; "": nobody.
	Address  string
	Era      Era
	Revision string
	Client   ClientCapabilities
}

// Caller returns whom the viewer counts as, for bounds alone; "": nobody.
func (v Viewer) Caller() string {
	if v.Principal != "" {
		return v.Principal
	}
	return v.Address
}

// Subscription is a resource of whose updates somebody wants to be told.
type Subscription struct {
	Viewer Viewer
	URI    string
	// Tell tells the viewer, and nobody else, that the resource has changed; it may be called at any time, also after the release: as long
	// as the viewer has a subscription of the resource, which may be another by then, it hears of it. So where one takes the place of
	// another (Again), a change that both find may be told twice, which costs the client one more read; else one that only the first has
	// found would be lost. It is safe for concurrent use and does not wait.
	Tell func()
	// Again tells that the viewer hears of it already, by the right of an earlier request, which may end. What that one has is
	// released as soon as this one is there, and stays if this one is refused.
	Again bool
}

// HubOptions are a hub's parameters. The functions are called by the goroutines of
// requests, several at once and without a lock held; ctx carries the values of the
// request that opened the stream, which may be long ago: the caller in it is right,
// what it says of the state of the house is old. Errors that are an *Error are
// answered to the client, where there is an answer.
type HubOptions struct {
	// View names what the viewer sees of one list now. Equal names are equal lists: a
	// stream is told of a change only if its name has changed. It is asked for each
	// stream after each [Hub.Changed], so it should be quick. nil: changes of lists are
	// not told, nor declared.
	View func(ctx context.Context, v Viewer, list List) string
	// Watch is asked before a stream or a session is told of updates of a resource; an
	// error refuses. release is called once when nobody needs the updates any more. nil:
	// there are no resource subscriptions.
	Watch func(ctx context.Context, s Subscription) (release func(), err error)
	// WatchTask is the same for a task that the client knows as id; key is the name that
	// [Hub.TaskChanged] will use. nil: tasks are not told of.
	WatchTask func(ctx context.Context, v Viewer, id string) (key string, release func(), err error)
	// Until tells when the caller's right to listen ends; the stream ends then, and a
	// client that comes again brings a fresh token. The zero time, and nil: never.
	Until func(ctx context.Context) time.Time
	// Outdated tells whether those who may listen were others when the request was let in: then there is a 503. Who makes it so calls
	// [Hub.Restart] afterwards, so that one of the two finds each stream. nil: it never is.
	Outdated func(ctx context.Context) bool

	// Address names where an anonymous caller comes from, for bounds alone; "" if that is not
	// to be counted. It must not look like a principal. nil: it never is.
	Address func(ctx context.Context) string

	// Crowded tells whether memory is short: then no stream is opened for the request, and there is a 503. nil: it never is.
	Crowded func(r *http.Request) bool
	// Full is told of a request that is refused because too many streams are open, or too many sessions have subscriptions:
	// in all, or, ofCaller, of one caller; and of the status. nil: nobody is.
	Full func(req *Request, ofCaller bool, status int)
	// Panicked is told of a panic that no request sees, where it is recovered. nil: nobody is.
	Panicked func(what string, v any)
	// Listeners counts the streams and sessions. Hubs that share one are bounded together, by its [Listeners.Bound]. nil: the hub has one
	// of its own, with the two that follow.
	Listeners *Listeners
	// MaxStreams bounds the open streams; above it there is a 503. 0: no bound.
	MaxStreams int
	// MaxPerPrincipal bounds the open streams of one principal, and the sessions without one in which
	// it has subscriptions; above it there is a 429, and a session whose stream ends then loses its subscriptions with it. The anonymous principal is many
	// callers: for it the address counts. 0: no bound.
	MaxPerPrincipal int
	// MaxWatches bounds the resources and tasks of one stream or session. 0: 256.
	MaxWatches int
}

// Hub tells the clients that listen what has changed: modern clients by
// subscriptions/listen, legacy ones on the stream that they open with GET. Nothing is
// queued for them: a stream remembers what is still to be told, each thing once, so
// that changes which follow each other faster than a client reads become one, and a
// slow reader holds up nobody. All methods are safe for concurrent use. Each stream has
// a goroutine that waits for its end, and one that tells while there is something to tell;
// Drain waits for both.
type Hub struct {
	o HubOptions

	mu     sync.Mutex
	open   map[*listener]struct{}
	tasks  map[string]map[*listener]string // who watches a task, and as which id
	legacy map[[16]byte]*watcher           // sessions with subscriptions, or with a stream
	ended  bool

	left sync.WaitGroup // the open streams
}

// NewHub makes a hub; it belongs to one [Handler].
func NewHub(o HubOptions) *Hub {
	if o.Listeners == nil {
		o.Listeners = &Listeners{most: o.MaxStreams, each: o.MaxPerPrincipal}
	}
	if o.Panicked == nil {
		o.Panicked = func(string, any) {}
	}
	if o.MaxWatches <= 0 {
		o.MaxWatches = 256
	}
	return &Hub{
		o: o, open: make(map[*listener]struct{}),
		tasks:  make(map[string]map[*listener]string),
		legacy: make(map[[16]byte]*watcher),
	}
}

// TaskChanged tells who watches a task what has become of it. The task's ID is not
// used: each client is told the one that it knows. It does not wait.
func (h *Hub) TaskChanged(key string, t Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l, id := range h.tasks[key] {
		l.mark(func(p *pending) {
			if p.tasks == nil {
				p.tasks = make(map[string]Task)
			}
			t.ID = id
			p.tasks[key] = t
		})
	}
}

// Streams returns the number of open streams.
func (h *Hub) Streams() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open)
}

// Drain ends every stream, modern ones with their result (mcp-S3), and refuses new
// ones with a 503. It returns when all are gone, or with ctx's error. It may be called
// more than once.
func (h *Hub) Drain(ctx context.Context) error {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.Restart() // and nobody is let in again
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		h.left.Wait()
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
func (h *Hub) Restart() {
	h.mu.Lock()
	for l := range h.open {
		l.finish()
	}
	sessions := slices.Collect(maps.Keys(h.legacy))
	h.mu.Unlock()
	for _, id := range sessions {
		h.forget(id)
	}
}

// enter admits the stream of a request. The caller has to make it leave.
func (h *Hub) enter(l *listener, req *Request) *Error {
	if h.o.Crowded != nil && h.o.Crowded(req.HTTP) {
		return Later(http.StatusServiceUnavailable, 10*time.Second, "there is no room for more streams")
	}
	refused, full := h.admit(l)
	h.tellFull(req, refused, full)
	if refused != nil {
		return refused
	}
	entered := false
	defer func() {
		if !entered {
			h.leave(l)
		}
	}()
	if refused = h.outdated(req); refused == nil {
		entered = true
	}
	return refused
}

// outdated refuses a request that was let in by rules that are gone. It is asked after a restart would find what the request has begun.
func (h *Hub) outdated(req *Request) *Error {
	if h.o.Outdated != nil && h.o.Outdated(req.HTTP.Context()) {
		return Later(http.StatusServiceUnavailable, time.Second, "the configuration has changed meanwhile: ask again")
	}
	return nil
}

// fullness is of what there is too much.
type fullness uint8

const (
	notFull fullness = iota
	fullInAll
	fullOfCaller
)

// tellFull tells who wants to know it of a request that is refused.
func (h *Hub) tellFull(req *Request, refused *Error, full fullness) {
	if full != notFull && h.o.Full != nil {
		h.o.Full(req, full == fullOfCaller, refused.HTTPStatus)
	}
}

// admit counts a stream, or tells why it does not.
func (h *Hub) admit(l *listener) (*Error, fullness) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return Later(http.StatusServiceUnavailable, time.Second, "the server is about to end"), notFull
	}
	switch full := h.o.Listeners.enterStream(l.viewer.Caller()); full {
	case fullInAll:
		return Later(http.StatusServiceUnavailable, 30*time.Second, "too many streams are open"), full
	case fullOfCaller:
		return Later(http.StatusTooManyRequests, 30*time.Second, "too many streams are open for this caller: at most %d", h.o.Listeners.perCaller()), full
	case notFull:
	}
	h.open[l] = struct{}{}
	h.left.Add(1)
	return nil, notFull
}

// leave forgets a stream, whatever panics meanwhile of what others gave it to release.
func (h *Hub) leave(l *listener) {
	defer h.left.Done()
	defer releaseAll(l.release)
	defer h.close(l)
	if l.watcher != nil && l.viewer.Era == Modern {
		h.dismiss(l.watcher)
	}
}

// close forgets the place of a stream, and the tasks that it hears of.
func (h *Hub) close(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, l)
	h.o.Listeners.leaveStream(l.viewer.Caller())
	for _, key := range l.keys {
		delete(h.tasks[key], l)
		if len(h.tasks[key]) == 0 {
			delete(h.tasks, key)
		}
	}
}
