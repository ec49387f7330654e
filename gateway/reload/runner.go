package reload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/config"
	"drawbridge/gateway/diskcache"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/signal"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// ErrEnded is returned to callers that wait for a runner that has ended.
var ErrEnded = errors.New("reload: the gateway has ended")

// Options are the dependencies and settings of a [Runner].
type Options struct {
	// LoadConfig rereads the configuration. If it is nil, the configuration never changes and a reload rereads only the
	// documents. kept, if not nil, has what stays as it is in use.
	LoadConfig func(kept *config.Kept) (*config.Config, error)
	// Started is the configuration that the process has started with.
	Started *config.Config
	// Local reports whether the gateway serves only the user that runs the program, without tokens.
	Local bool
	// CompareStored makes Load quarantine the documents that a start would hold, because those in Store restrict more or have more
	// operations. The quarantine only reports them: Load publishes the documents that it has read.
	CompareStored bool
	// ReplaceFor is how long newer configurations replace the one whose documents are being read; 5 s if it is 0.
	ReplaceFor time.Duration
	// InUse, if not nil, is called with each reloaded configuration once it is in use.
	InUse    func(*config.Config)
	Updates  <-chan source.Update // outcomes of the sources
	Deploy   func(c *config.Config, old *generation.Deployment) (*generation.Deployment, error)
	Services Services
	Recorder *widening.Recorder // access granted by the configuration in use; nil if it is not recorded
	Store    *diskcache.Store   // last-known-good documents of the sources; nil if documents are kept in memory only
	Recovery *recovery.Recoverer
	Metrics  *telemetry.Metrics
	Log      *slog.Logger
}

// Served holds the served generation and publishes new ones. Only the goroutine of [Runner.Run] calls Publish and SetStatus.
type Served interface {
	// Current returns the generation that is served, or nil.
	Current() *generation.Generation
	// Publish builds a generation of a deployment and serves it, if there is anything to serve. newest is the reason why a
	// newer configuration is not in use.
	Publish(d *generation.Deployment, newest NotInUse)
	// SetStatus publishes the status for operators; gen is nil if nothing is served.
	SetStatus(gen *generation.Generation, d *generation.Deployment, newest NotInUse)
}

// NotInUse is the reason why the newest configuration is not in use; it is zero if it is in use.
type NotInUse struct {
	Refused string   // the reason why it was rejected
	Opens   []string // the access that it would open, if it awaits acceptance
}

// Runner serves the documents of a configuration and takes over their changes, until a reload replaces it by another. Its
// methods are safe for concurrent use.
type Runner struct {
	o         Options
	served    Served
	running   atomic.Bool
	ended     chan struct{}          // closed when Run has returned
	reloads   chan request           // reloads with a waiter
	requested chan struct{}          // signals a reload without a waiter; its capacity of 1 merges pending requests
	accepts   chan source.Acceptance // operators' acceptances of quarantined documents
	// attempted is closed when the first attempt to read each document of the first deployment has ended.
	attempted   chan struct{}
	isAttempted sync.Once // closes attempted
	// first is the first deployment until Run or Load takes it over.
	first *generation.Deployment
}

// New returns a runner that begins with a deployment and changes what is served.
func New(o Options, first *generation.Deployment, served Served) *Runner {
	if o.ReplaceFor == 0 {
		o.ReplaceFor = replaceFor
	}
	return &Runner{
		o: o, served: served, first: first, attempted: make(chan struct{}), ended: make(chan struct{}), reloads: make(chan request), requested: make(chan struct{}, 1),
		accepts: make(chan source.Acceptance),
	}
}

// Begin reserves the runner for one call of Run or Load, which exclude each other.
func (r *Runner) Begin() error {
	if !r.running.CompareAndSwap(false, true) {
		return errors.New("the gateway runs already")
	}
	return nil
}

// Run loads the documents, refreshes them, watches files and processes reloads until ctx ends. Its other goroutines are
// those of group. It is called once, after [Runner.Begin].
func (r *Runner) Run(ctx context.Context, group *errgroup.Group) error {
	w := newWriter(r, ctx, group)
	r.first = nil
	if len(w.inUse.APIs.Sources) == 0 { // nothing is ever published
		r.setAttempted()
	}
	if r.o.Store != nil {
		w.inUse.APIs.NameStored()
		group.Go(func() error { r.o.Store.Run(ctx); return nil })
	}
	w.o.Services.Use(w.inUse.Config)
	w.start(w.inUse)
	if len(w.inUse.APIs.Sources) == 0 {
		r.o.Recorder.Note(w.access)
	}
	if r.o.Recorder != nil {
		group.Go(func() error { r.o.Recorder.Run(ctx); return nil })
	}
	r.o.Recovery.Keep(ctx, "changes were taken over", func() { w.loop(ctx) })
	return w.failed
}

// End reports to all waiters that Run has returned, with all of its goroutines.
func (r *Runner) End() { close(r.ended) }

// FirstAttempt returns a channel that is closed when the first attempt to read each document of the first deployment has
// ended.
func (r *Runner) FirstAttempt() <-chan struct{} { return r.attempted }

func (r *Runner) setAttempted() { r.isAttempted.Do(func() { close(r.attempted) }) }

// publish serves a deployment. The first attempts have ended then, if they have, even if that panics.
func (r *Runner) publish(d *generation.Deployment, newest NotInUse) {
	if d.Tried() {
		defer r.setAttempted()
	}
	r.served.Publish(d, newest)
}

// Loaded is the outcome of [Runner.Load] for one source.
type Loaded struct {
	Source   *source.Source
	Document *source.Document // nil if Err is not nil
	Err      error
}

// Load reads every document once, publishes the result and returns the outcome of each source, in the order of the
// configuration. progress, if not nil, is called after each document, from several goroutines. If ctx ends before all
// documents are read, Load returns no outcomes, because a missing one would not show the state of its document. It is called once,
// after [Runner.Begin].
func (r *Runner) Load(ctx context.Context, progress func(done, all int)) ([]Loaded, error) {
	if len(r.first.Config.Discovery) > 0 {
		defer r.o.Services.Release()
	}
	if err := r.discover(ctx); err != nil {
		return nil, err
	}
	sources := r.first.APIs.Sources
	var wg sync.WaitGroup
	var done atomic.Int64
	outcomes := make([]Loaded, len(sources))
	for i, s := range sources {
		wg.Go(func() {
			document, err := s.Load(ctx)
			outcomes[i] = Loaded{s, document, err}
			if progress != nil {
				progress(int(done.Add(1)), len(sources))
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, s := range sources {
		s.Document, s.Err, s.Tried = outcomes[i].Document, outcomes[i].Err, true
	}
	if r.o.CompareStored {
		r.holdAsAStart(ctx)
	}
	r.publish(r.first, NotInUse{})
	return outcomes, nil
}

// Reload rereads the configuration and all documents and returns when the result is in use. If the configuration has
// errors, Reload returns all of them and the configuration in use stays. It needs [Runner.Run]: it blocks before Run
// starts, and fails after Run has returned.
func (r *Runner) Reload(ctx context.Context) error {
	done, err := r.Submit(ctx, true)
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-r.ended:
		return ErrEnded
	case <-ctx.Done():
		return fmt.Errorf("reload: still under way: %w", ctx.Err())
	}
}

// Submit is [Runner.Reload] that returns as soon as the request is taken; the channel receives the outcome. asked
// reports whether an operator requests the reload, and thereby accepts the access that it opens; otherwise a file has changed.
func (r *Runner) Submit(ctx context.Context, asked bool) (<-chan error, error) {
	done := make(chan error, 1)
	select {
	case r.reloads <- request{done: []chan<- error{done}, asked: asked}:
		return done, nil
	case <-r.ended:
		return nil, ErrEnded
	case <-ctx.Done():
		return nil, fmt.Errorf("reload: %w", ctx.Err())
	}
}

// RequestReload is [Runner.Reload] without waiting: the outcome is logged. Requests made before a reload begins are
// merged.
func (r *Runner) RequestReload() { signal.Raise(r.requested) }

// Accept puts a quarantined document into use and returns when it is served. An empty digest accepts whichever document
// of the API is quarantined. The error is [admin.ErrNoAPI] or [admin.ErrNotHeld] if there is nothing to accept, and
// [admin.ErrChanged] if another document is quarantined. Accept needs [Runner.Run].
func (r *Runner) Accept(ctx context.Context, api, digest string) error {
	a := source.Acceptance{API: api, Digest: digest, Done: make(chan error, 2)}
	select {
	case r.accepts <- a:
		select {
		case err := <-a.Done: // immediately, or after the document was reread
			return err
		case <-r.ended:
			return ErrEnded
		case <-ctx.Done():
			return fmt.Errorf("accept: %w", ctx.Err())
		}
	case <-r.ended:
		return ErrEnded
	case <-ctx.Done():
		return fmt.Errorf("accept: %w", ctx.Err())
	}
}
