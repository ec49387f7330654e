package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/signal"
)

const (
	// maxWatchedTasks bounds the tasks with subscriptions, in one process.
	maxWatchedTasks = 4096
	// maxWatchedPerCaller bounds those of one caller.
	maxWatchedPerCaller = 256
	// watchPace is the minimum time between two polls of a task for subscriptions.
	watchPace = time.Second
	// PanicPause is the delay before a poll that has panicked is repeated.
	PanicPause = time.Minute
	// joinPause is the delay before a new subscriber is sent the status of the task.
	joinPause = 100 * time.Millisecond
)

// watchedTask is a task with subscriptions. One goroutine polls it, on behalf of one of the subscribers.
type watchedTask struct {
	watchers map[int]*taskWatcher
	next     int
	told     taskVersion   // the last version that subscribers were notified of
	fresh    bool          // a new subscriber has not been notified yet
	wake     chan struct{} // receives if fresh is set while the goroutine may be waiting
	stop     context.CancelFunc
	done     chan struct{}
}

// taskVersion identifies one state of a task.
type taskVersion struct {
	status    mcp.TaskStatus
	updated   int64
	message   string
	questions int
}

func versionOf(rec *Record) taskVersion {
	return taskVersion{rec.Status, rec.Updated.UnixNano(), rec.Message, len(rec.Questions)}
}

// taskWatcher is one subscriber: the parts of its request that polling needs, which may be hours after the request. All
// subscribers of a task are the principal that owns it.
type taskWatcher struct {
	id     string
	viewer mcp.Subscriber

	endpoint string
	Caller   auth.Caller
	trace    trace.SpanContext
	Header   http.Header // of the request
}

// NewWatcher returns the subscriber of the request of ctx to a task.
func NewWatcher(ctx context.Context, id string, viewer mcp.Subscriber) *taskWatcher {
	v := inbound.From(ctx)
	return &taskWatcher{
		id: id, viewer: viewer, endpoint: v.EndpointName, Header: v.Header,
		Caller: auth.CallerFromContext(ctx), trace: trace.SpanContextFromContext(ctx),
	}
}

// LimitHeader reduces the headers to those that calls of a plan forward to the service, since the subscription outlives the
// request.
func (w *taskWatcher) LimitHeader(p *plan.Plan) { w.Header = p.PassedHeaders(w.Header).Clone() }

// Subscribe is called by the broker before a stream subscribes to a task.
func (s *Tasks) Subscribe(ctx context.Context, v mcp.Subscriber, id string) (key string, release func(), err error) {
	w := NewWatcher(ctx, id, v)
	t, _, err := s.openFor(context.WithoutCancel(ctx), w)
	if err != nil {
		return "", nil, err
	}
	w.LimitHeader(t.Plan)
	key = t.Payload.Key
	s.mu.Lock()
	defer s.mu.Unlock()
	caller := v.LimitKey()
	if caller != "" && s.hearing[caller] >= maxWatchedPerCaller {
		return "", nil, mcp.InvalidParams("too many tasks are listened for by this caller: at most %d", maxWatchedPerCaller)
	}
	watched := s.Watched[key]
	if watched == nil {
		if len(s.Watched) >= maxWatchedTasks {
			return "", nil, mcp.InvalidParams("too many tasks are listened for")
		}
		run, stop := context.WithCancel(context.Background())
		watched = &watchedTask{watchers: map[int]*taskWatcher{}, wake: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
		s.Watched[key] = watched
		go func() {
			defer close(watched.done)
			s.Keep(run, "a task was watched", func() { s.pollWatched(run, watched) })
		}()
	}
	s.hearing[caller]++
	n := watched.next
	watched.next++
	watched.watchers[n], watched.fresh = w, true
	signal.Raise(watched.wake)
	return key, func() { s.release(key, watched, n, caller) }, nil
}

// release ends one subscription and, with the last one, the goroutine, which it waits for.
func (s *Tasks) release(key string, watched *watchedTask, n int, caller string) {
	s.mu.Lock()
	if s.hearing[caller]--; s.hearing[caller] <= 0 {
		delete(s.hearing, caller)
	}
	delete(watched.watchers, n)
	last := len(watched.watchers) == 0
	if last && s.Watched[key] == watched {
		delete(s.Watched, key)
	}
	s.mu.Unlock()
	if last {
		watched.stop()
		<-watched.done
	}
}

// pollWatched polls a task as long as it has subscribers and has not ended. [Task.State] notifies of changes; a new subscriber is
// sent the status in any case, a moment later, when its stream is ready.
func (s *Tasks) pollWatched(ctx context.Context, watched *watchedTask) {
	var next <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-next:
		case <-watched.wake:
			select {
			case <-ctx.Done():
				return
			case <-time.After(joinPause):
			}
		}
		next = nil
		if pause, more := s.pollOnce(ctx, watched); more {
			next = time.After(max(pause, watchPace))
		}
	}
}

// pollOnce polls once on behalf of any remaining subscriber; it returns the time to the next poll and whether there is one.
func (s *Tasks) pollOnce(ctx context.Context, watched *watchedTask) (pause time.Duration, more bool) {
	s.mu.Lock()
	fresh := watched.fresh
	watched.fresh = false
	var w *taskWatcher
	for _, one := range maps.All(watched.watchers) {
		w = one
		break
	}
	s.mu.Unlock()
	if w == nil {
		return 0, false // the last subscriber has left
	}
	t, rec, err := s.stateFor(ctx, w)
	switch {
	case t == nil:
		return 0, false // it has expired, or the subscriber may not see it any more
	case errors.Is(err, errPanicked):
		return PanicPause, true
	case err != nil:
		return 0, true
	}
	s.mu.Lock()
	other := watched.told != versionOf(rec) // another replica may have found the change
	s.mu.Unlock()
	if fresh || other {
		s.notify(t, rec)
	}
	return time.Until(rec.Next), !rec.final()
}

var errPanicked = errors.New("a look at a task failed in a way that it should not")

// stateFor returns the status of a task as a request of the subscriber would. The task is nil if the subscriber may not see it.
// No request handler is there to recover a panic, so it does.
func (s *Tasks) stateFor(ctx context.Context, w *taskWatcher) (t *Task, rec *Record, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.Metrics.Panics.Inc()
			s.Log.LogAttrs(ctx, slog.LevelError, "panic while polling a task", slog.String("reference", mcp.NewReference()),
				slog.Any("error", fmt.Errorf("panic: %v", v)), slog.String("stack", string(debug.Stack())))
			err = errPanicked
		}
	}()
	t, ctx, err = s.openFor(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	ctx = t.Call.Resume(ctx)
	defer t.Call.Close()
	rec, err = t.State(ctx)
	return t, rec, err
}

// openFor opens the task as a request of the subscriber would, at the endpoint that is in use now. It also returns the
// context of such a request, which ends with ctx.
func (s *Tasks) openFor(ctx context.Context, w *taskWatcher) (*Task, context.Context, error) {
	e := s.Endpoint(w.endpoint)
	if e == nil {
		return nil, nil, mcp.InvalidParams("the endpoint is gone")
	}
	ctx = trace.ContextWithSpanContext(w.Caller.Context(ctx), w.trace)
	v := &inbound.Request{EndpointName: w.endpoint}
	ctx = context.WithValue(ctx, inbound.Key{}, v) // so that its lines in the log have one id
	inv := call.Invocation{
		Endpoint: e, Method: "tasks/get", Request: &v.Identifier,
		Caller: call.Caller{
			ID: w.viewer.Principal, Header: w.Header, Protocol: call.Protocol{Family: w.viewer.Family, Revision: w.viewer.Revision, Capabilities: w.viewer.Client},
		},
	}
	if e.Guard != nil {
		inv.Caller.Principal = w.Caller.Principal()
	}
	t, err := s.Open(ctx, inv, w.id)
	return t, ctx, err
}

// changed notifies the streams of the task's endpoint, here and at other replicas.
func (t *Task) changed(ctx context.Context, rec *Record) {
	t.notify(t, rec)
	t.Publish(ctx, t.Payload.Key)
}

// notify notifies the streams of this process.
func (s *Tasks) notify(t *Task, rec *Record) {
	s.mu.Lock()
	if watched := s.Watched[t.Payload.Key]; watched != nil {
		watched.told = versionOf(rec)
	}
	s.mu.Unlock()
	if broker := s.Broker(t.Call.Endpoint.Name); broker != nil {
		broker.TaskChanged(t.Payload.Key, t.of(rec))
	}
}
