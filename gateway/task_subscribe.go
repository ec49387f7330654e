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
	// maxWatchedTasks bounds the tasks that somebody listens for, in one process.
	maxWatchedTasks = 4096
	// watchPace is the least time between two looks at a task that nobody has asked for.
	watchPace = time.Second
	// panicPause is after what time a look that has failed by a fault of the gateway's is repeated.
	panicPause = time.Minute
	// joinPause is after what time one who begins to listen is told how the task stands.
	joinPause = 100 * time.Millisecond
)

// watchedTask is a task that somebody listens for. One goroutine looks at it, in the name of one of those who listen.
type watchedTask struct {
	watchers map[int]*taskWatcher
	next     int
	told     taskVersion   // what the listeners were told last
	fresh    bool          // there is one who has not been told of the task yet
	wake     chan struct{} // there is, and the goroutine may be waiting
	stop     context.CancelFunc
	done     chan struct{}
}

// taskVersion tells one state of a task from another.
type taskVersion struct {
	status    mcp.TaskStatus
	updated   int64
	message   string
	questions int
}

func versionOf(rec *taskRecord) taskVersion {
	return taskVersion{rec.Status, rec.Updated.UnixNano(), rec.Message, len(rec.Questions)}
}

// taskWatcher is who listens: what a request of his needs. All of them are the same principal, whose the task is.
type taskWatcher struct {
	ctx    context.Context //nolint:containedctx // the caller is in it, for as long as he listens
	id     string
	viewer mcp.Subscriber
}

// newTaskWatcher makes the one who listens of the request that ctx is of, and that has found the plan of the task. He may listen for hours after it
// has ended, or let go of its headers: besides the caller and the trace he has a copy of those headers that go on to the service.
func newTaskWatcher(ctx context.Context, p *Plan, id string, viewer mcp.Subscriber) *taskWatcher {
	v := requestInfoFrom(ctx)
	own := trace.ContextWithSpanContext(auth.WithCallerOf(context.Background(), ctx), trace.SpanContextFromContext(ctx))
	own = context.WithValue(own, requestInfoKey{}, &requestInfo{name: v.name, operator: v.operator, header: p.passed(v.header).Clone()})
	return &taskWatcher{ctx: own, id: id, viewer: viewer}
}

// watchTask is asked by the broker before a stream is told of a task.
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

// release ends the watch of one listener, and with the last of them the goroutine, which it waits for.
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

// follow looks at a task as long as somebody listens and it has not ended. Changes are told by [task.state]; who has just begun
// to listen is told how the task stands in any case, a moment later, when his stream is there.
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

// lookFor looks once, in the name of whoever still listens; it returns the time to the next look, and whether there is one.
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
		return 0, false // the last has gone
	}
	t, rec, err := g.lookAs(ctx, w)
	switch {
	case t == nil:
		return 0, false // it has expired, or is not his to see any more
	case errors.Is(err, errPanicked):
		return panicPause, true
	case err != nil:
		return 0, true
	}
	g.tasks.mu.Lock()
	other := watched.told != versionOf(rec) // another replica may have found it
	g.tasks.mu.Unlock()
	if fresh || other {
		g.tellTask(t, rec)
	}
	return time.Until(rec.Next), !rec.final()
}

var errPanicked = errors.New("a look at a task failed in a way that it should not")

// lookAs tells how a task stands, as a request of the listener would. Without a task, it is not there for him. No request is
// there to catch a panic, so it does.
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

// open opens the task as a request of the listener would, in what is served now.
func (w *taskWatcher) open(g *Gateway) (*task, error) {
	gen := g.current.Load()
	known, _ := w.ctx.Value(requestInfoKey{}).(*requestInfo)
	if gen == nil || known == nil {
		return nil, mcp.InvalidParams("nothing is served")
	}
	v := requestInfo{name: known.name, operator: known.operator, header: known.header} // its endpoint is the stream's
	if v.endpoint = gen.endpoint(v.name); v.endpoint == nil {
		return nil, mcp.InvalidParams("the endpoint is gone")
	}
	ctx := context.WithValue(w.ctx, requestInfoKey{}, &v)
	return g.openTask(ctx, &mcp.Request{
		Method: "tasks/get", TaskID: w.id, Family: w.viewer.Family, Revision: w.viewer.Revision, Client: w.viewer.Client, Principal: w.viewer.Principal,
		HTTP: (&http.Request{Header: v.header}).WithContext(ctx),
	}, nil)
}

// taskChanged tells the streams of the task's endpoint, and has other replicas look at it that have some.
func (g *Gateway) taskChanged(t *task, rec *taskRecord) {
	g.tellTask(t, rec)
	g.shared.changed(t.ctx, t.payload.Key)
}

// tellTask tells the streams that are open here.
func (g *Gateway) tellTask(t *task, rec *taskRecord) {
	g.tasks.mu.Lock()
	if watched := g.tasks.watched[t.payload.Key]; watched != nil {
		watched.told = versionOf(rec)
	}
	g.tasks.mu.Unlock()
	if broker := g.mcpHandlers.broker(t.endpoint.name); broker != nil {
		broker.TaskChanged(t.payload.Key, t.of(rec))
	}
}
