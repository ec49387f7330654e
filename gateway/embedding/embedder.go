package embedding

import (
	"cmp"
	"context"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/signal"
)

// Options are the dependencies of an [Embedder].
type Options struct {
	// StateDir is the directory in which vectors are kept; if it is empty, they are kept in memory only.
	StateDir string
	// Logger receives log records, without the texts of tools and queries.
	Logger *slog.Logger
	// Metrics is where the embedder registers its metrics.
	Metrics prometheus.Registerer
	// TracerProvider creates the spans of requests to the server. Tracing is off if it is nil.
	TracerProvider trace.TracerProvider
	// UserAgent is sent to the server.
	UserAgent string
	// Pause is called after each tool, so that the work yields to calls. It may be nil.
	Pause func()
	// Recover runs a step in a goroutine of its own, and reports whether it panicked. OnPanic receives the panics of
	// others.
	Recover func(what string, step func()) (panicked bool)
	OnPanic func(what string, v any)

	// QueryTimeout overrides the constant of that name in measurements, unless it is 0.
	QueryTimeout time.Duration
}

// Embedder makes finders, and the vectors of the newest one. It is safe for concurrent use.
type Embedder struct {
	o       Options
	metrics *metrics

	mu     sync.Mutex
	model  *model  // of the newest finder; nil if tools are ranked by words alone
	newest *Finder // nil if its vectors need not be made
	before *Finder // that NewFinder returned last
	wake   chan struct{}
}

// New returns an embedder. It starts no goroutine and opens no connection.
func New(o Options) *Embedder {
	o.QueryTimeout = cmp.Or(o.QueryTimeout, QueryTimeout)
	if o.Pause == nil {
		o.Pause = func() {}
	}
	return &Embedder{o: o, metrics: newMetrics(o.Metrics), wake: make(chan struct{}, 1)}
}

// NewFinder returns the finder of the tools of a catalog, which ranks by words alone if c is nil. It reuses the vectors
// of an earlier finder with the same settings; [Embedder.Run] makes the missing ones. If the finder before has searched,
// the index of words is built before NewFinder returns.
func (e *Embedder) NewFinder(c *config.Embeddings, tools []*catalog.Tool) *Finder {
	f := &Finder{tools: tools, index: once(tools, e.o.Pause), embedder: e}
	if e.replace(f) {
		f.Index()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if old := e.model; old != nil && (c == nil || !reflect.DeepEqual(old.settings, *c)) {
		old.client.http.Close() // its idle connections
		e.model = nil
	}
	if e.newest = nil; c == nil {
		e.metrics.counted(0, 0)
		return f
	}
	if e.model == nil {
		e.model = newModel(c, &e.o)
	}
	f.model, f.vectors = e.model, make([]atomic.Pointer[vector], len(f.tools))
	e.newest = f
	signal.Raise(e.wake)
	return f
}

// replace makes f the finder that was returned last, and reports whether the one before has searched.
func (e *Embedder) replace(f *Finder) (searched bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	searched = e.before != nil && e.before.used.Load()
	e.before = f
	return searched
}

const (
	// firstRetry is the delay before failed vectors are retried, which doubles up to lastRetry.
	firstRetry = 10 * time.Second
	lastRetry  = 10 * time.Minute
)

// Run makes vectors until ctx ends. It is called by one goroutine.
func (e *Embedder) Run(ctx context.Context) {
	defer e.closeIdle()
	retry := time.NewTimer(time.Hour)
	retry.Stop()
	defer retry.Stop()
	pause := firstRetry
	var failed *model // the model whose last request failed
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-retry.C:
		}
		f := e.latest()
		if f == nil {
			continue
		}
		err := e.Fill(ctx, f)
		switch {
		case ctx.Err() != nil:
		case err == nil:
			failed, pause = nil, firstRetry
			retry.Stop()
		default:
			if failed != f.model {
				failed, pause = f.model, firstRetry
				e.o.Logger.Warn("the embeddings of tools can't be made; retrying", "model", f.model.name(), "outcome", outcomeOf(err), "error", err,
					"embedded", f.Embedded(), "tools", len(f.tools))
			}
			retry.Reset(pause)
			pause = min(2*pause, lastRetry)
		}
	}
}

// closeIdle closes the connections that no request uses.
func (e *Embedder) closeIdle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.model != nil {
		e.model.client.http.Close()
	}
}

// latest returns the finder whose vectors are to be made; nil if there is none.
func (e *Embedder) latest() *Finder {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.newest
}
