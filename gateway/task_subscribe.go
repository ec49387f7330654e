package gateway

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
	"drawbridge/gateway/mcp"
)

const (
	// maxWatchedTasks bounds the tasks with subscriptions, in one process.
	maxWatchedTasks = 4096
	// watchPace is the minimum time between two polls of a task for subscriptions.
	watchPace = time.Second
	// panicPause is the delay before a poll that has panicked is repeated.
	panicPause = time.Minute
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

func versionOf(rec *taskRecord) taskVersion {
	return taskVersion{rec.Status, rec.Updated.UnixNano(), rec.Message, len(rec.Questions)}
}

// taskWatcher is one subscriber: the parts of its request that polling needs. All subscribers of a task are the principal that
// owns it.
type taskWatcher struct {
	ctx    context.Context //nolint:containedctx // carries the caller for the lifetime of the subscription
	id     string
	viewer mcp.Subscriber
}

// newTaskWatcher returns the subscriber of the request of ctx, which has found the plan of the task. The subscription may
// outlive the request and its headers by hours, so beside the caller and the trace it copies only the headers that are
// forwarded to the service.
func newTaskWatcher(ctx context.Context, p *Plan, id string, viewer mcp.Subscriber) *taskWatcher {
	v := requestInfoFrom(ctx)
	detached := trace.ContextWithSpanContext(auth.WithCallerOf(context.Background(), ctx), trace.SpanContextFromContext(ctx))
	detached = context.WithValue(detached, requestInfoKey{}, &requestInfo{name: v.name, operator: v.operator, header: p.passed(v.header).Clone()})
	return &taskWatcher{ctx: detached, id: id, viewer: viewer}
}

// watchTask is called by the broker before a stream subscribes to a task.
func (g *Gateway) watchTask(ctx context.Context, v mcp.Subscriber, id string) (key string, release func(), err error) {
	asks := taskWatcher{ctx: context.WithoutCancel(ctx), id: id, viewer: v}
	t, err := asks.open(g)
	if err != nil {
		return "", nil, err
	}
	w := newTaskWatcher(ctx, t.plan, id, v)
	key = t.payload.Key
	s := g.tasks
	s.mu.Lock()
	defer s.mu.Unlock()
	caller := v.LimitKey()
	if caller != "" && s.hearing[caller] >= maxWatchesPerCaller {
		return "", nil, mcp.InvalidParams("too many tasks are listened for by this caller: at most %d", maxWatchesPerCaller)
	}
	watched := s.watched[key]
	if watched == nil {
		if len(s.watched) >= maxWatchedTasks {
			return "", nil, mcp.InvalidParams("too many tasks are listened for")
		}
		run, stop := context.WithCancel(context.Background())
		watched = &watchedTask{watchers: map[int]*taskWatcher{}, wake: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
		s.watched[key] = watched
		go func() {
			defer close(watched.done)
			g.Keep(run, "a task was watched", func() { g.follow(run, watched) })
		}()
	}
	s.hearing[caller]++
	n := watched.next
	watched.next++
	watched.watchers[n], watched.fresh = w, true
	select {
	case watched.wake <- struct{}{}:
	default:
	}
	return key, func() { s.release(key, watched, n, caller) }, nil
}

// release ends one subscription and, with the last one, the goroutine, which it waits for.
func (s *tasks) release(key string, watched *watchedTask, n int, caller string) {
	s.mu.Lock()
	if s.hearing[caller]--; s.hearing[caller] <= 0 {
		delete(s.hearing, caller)
	}
	delete(watched.watchers, n)
	last := len(watched.watchers) == 0
	if last && s.watched[key] == watched {
		delete(s.watched, key)
	}
	s.mu.Unlock()
	if last {
		watched.stop()
		<-watched.done
	}
}

// follow polls a task as long as it has subscribers and has not ended. [task.state] notifies of changes; a new subscriber is
// sent the status in any case, a moment later, when its stream is ready.
func (g *Gateway) follow(ctx context.Context, watched *watchedTask) {
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
		if pause, more := g.lookFor(ctx, watched); more {
			next = time.After(max(pause, watchPace))
		}
	}
}

// lookFor polls once on behalf of any remaining subscriber; it returns the time to the next poll and whether there is one.
func (g *Gateway) lookFor(ctx context.Context, watched *watchedTask) (pause time.Duration, more bool) {
	g.tasks.mu.Lock()
	fresh := watched.fresh
	watched.fresh = false
	var w *taskWatcher
	for _, one := range maps.All(watched.watchers) {
		w = one
		break
	}
	g.tasks.mu.Unlock()
	if w == nil {
		return 0, false // the last subscriber has left
	}
	t, rec, err := g.lookAs(ctx, w)
	switch {
	case t == nil:
		return 0, false // it has expired, or the subscriber may not see it any more
	case errors.Is(err, errPanicked):
		return panicPause, true
	case err != nil:
		return 0, true
	}
	g.tasks.mu.Lock()
	other := watched.told != versionOf(rec) // another replica may have found the change
	g.tasks.mu.Unlock()
	if fresh || other {
		g.tellTask(t, rec)
	}
	return time.Until(rec.Next), !rec.final()
}

var errPanicked = errors.New("a look at a task failed in a way that it should not")

// lookAs returns the status of a task as a request of the subscriber would. The task is nil if the subscriber may not see it.
// No request handler is there to recover a panic, so it does.
func (g *Gateway) lookAs(ctx context.Context, w *taskWatcher) (t *task, rec *taskRecord, err error) {
	defer func() {
		if v := recover(); v != nil {
			g.metrics.Panics.Inc()
			g.log.LogAttrs(ctx, slog.LevelError, "panic in a look at a task", slog.String("reference", mcp.NewReference()),
				slog.Any("error", fmt.Errorf("panic: %v", v)), slog.String("stack", string(debug.Stack())))
			err = errPanicked
		}
	}()
	if t, err = w.open(g); err != nil {
		return nil, nil, err
	}
	var cancel context.CancelFunc
	t.ctx, cancel = context.WithCancel(t.ctx)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	defer t.start()()
	rec, err = t.state()
	return t, rec, err
}

// open opens the task as a request of the subscriber would, in the current generation.
func (w *taskWatcher) open(g *Gateway) (*task, error) {
	gen := g.current.Load()
	known, _ := w.ctx.Value(requestInfoKey{}).(*requestInfo)
	if gen == nil || known == nil {
		return nil, mcp.InvalidParams("nothing is served")
	}
	v := &endpointRequest{requestInfo: requestInfo{name: known.name, operator: known.operator, header: known.header}, endpoint: gen.endpoint(known.name)}
	if v.endpoint == nil {
		return nil, mcp.InvalidParams("the endpoint is gone")
	}
	ctx := withRequest(w.ctx, v)
	return g.openTask(ctx, &mcp.Request{
		Method: "tasks/get", TaskID: w.id, Family: w.viewer.Family, Revision: w.viewer.Revision, Client: w.viewer.Client, Principal: w.viewer.Principal,
		HTTP: (&http.Request{Header: v.header}).WithContext(ctx),
	}, nil)
}

// taskChanged notifies the streams of the task's endpoint, here and at other replicas.
func (g *Gateway) taskChanged(t *task, rec *taskRecord) {
	g.tellTask(t, rec)
	g.shared.changed(t.ctx, t.payload.Key)
}

// tellTask notifies the streams of this process.
func (g *Gateway) tellTask(t *task, rec *taskRecord) {
	g.tasks.mu.Lock()
	if watched := g.tasks.watched[t.payload.Key]; watched != nil {
		watched.told = versionOf(rec)
	}
	g.tasks.mu.Unlock()
	if broker := g.mcpHandlers.brokerOf(t.endpoint.name); broker != nil {
		broker.TaskChanged(t.payload.Key, t.of(rec))
	}
}
