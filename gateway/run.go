package gateway

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/config"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// Run loads the documents, refreshes them, watches files and processes reloads until ctx ends. It is called once and
// returns when all of its goroutines have ended. The error is nil if ctx ended it.
func (g *Gateway) Run(ctx context.Context) error {
	if !g.running.CompareAndSwap(false, true) {
		return errors.New("the gateway runs already")
	}
	defer close(g.ended)
	defer g.subscriptions.End()
	group, ctx := errgroup.WithContext(ctx)
	r := &runner{
		lifecycle: g.lifecycle(), inUse: g.first, changed: make(chan struct{}, 1), starting: true, access: widening.Of(g.first.config, g.record.Previous()),
		startAPIs: func(apis *source.Set) { apis.Start(ctx, group) },
		spawn: func(f func(context.Context) error) context.CancelFunc {
			ctx, cancel := context.WithCancel(ctx)
			group.Go(func() error { return f(ctx) })
			return cancel
		},
	}
	g.first = nil
	if len(r.inUse.apis.Sources) == 0 { // nothing is ever published
		g.isAttempted.Do(func() { close(g.attempted) })
	}
	if g.store != nil {
		r.inUse.apis.NameStored()
		group.Go(func() error { g.store.Run(ctx); return nil })
	}
	group.Go(func() error { g.Keep(ctx, "tools were embedded", func() { g.embeddings.Run(ctx) }); return nil })
	r.start(r.inUse)
	if len(r.inUse.apis.Sources) == 0 {
		g.record.Note(r.access)
	}
	if g.record != nil {
		group.Go(func() error { g.record.Run(ctx); return nil })
	}
	group.Go(func() error { g.Keep(ctx, "changes were taken over", func() { r.loop(ctx) }); return r.failed })
	if s := g.shared.store; s != nil {
		group.Go(func() error { return s.Run(ctx) })
	}
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// lifecycle is what the runner needs of the gateway.
type lifecycle struct {
	options *Options
	log     *slog.Logger
	metrics *telemetry.Metrics
	record  *widening.Recorder // access granted by the configuration in use; nil if it is not recorded

	// What the runner waits for.

	updates   <-chan source.Update
	reloads   <-chan reload
	accepts   <-chan source.Acceptance
	requested <-chan struct{}

	// What it does.

	current   func() *generation                                     // the generation that is served; nil if there is none
	deploy    func(*config.Config, *deployment) (*deployment, error) // see [Gateway.deploy]
	serve     func(*deployment, notInUse)                            // see [Gateway.publish]
	setStatus func(*generation, *deployment, notInUse)               // see [Gateway.setStatus]
	survive   func(what string, step func()) (panicked bool)         // see [Gateway.survive]
	keep      func(ctx context.Context, what string, f func())       // see [Gateway.Keep]
	trimDelay func() time.Duration                                   // see [Gateway.trimDelay]
}

func (g *Gateway) lifecycle() lifecycle {
	return lifecycle{
		options: &g.o, log: g.log, metrics: g.metrics, record: g.record, updates: g.updates, reloads: g.reloads, accepts: g.accepts, requested: g.requested,
		current: g.current.Load, deploy: g.deploy, serve: g.publish, setStatus: g.setStatus, survive: g.survive, keep: g.Keep, trimDelay: g.trimDelay,
	}
}

// runner is the single writer: its goroutine alone decides which generation is served.
type runner struct {
	lifecycle
	// spawn runs f in a goroutine of Run until Run ends or the returned function is called.
	spawn func(f func(ctx context.Context) error) context.CancelFunc
	// startAPIs starts the goroutines of APIs, until Run ends or they are stopped.
	startAPIs func(apis *source.Set)
	inUse     *deployment        // the deployment that is served, or that will be as soon as one of its APIs is loaded
	next      *deployment        // the deployment of a reload, until all of its sources have answered; nil if no reload is under way
	since     time.Time          // when next, or the first deployment that it replaced, was read
	later     *reload            // a reload that begins when next is in use; nil if none is queued
	turn      int64              // number of the newest reload
	refused   string             // why the newest configuration was rejected; "" if it was not
	held      []string           // the access that a configuration awaiting acceptance would open
	access    *widening.Summary  // access granted by next, or by current if there is no reload
	changed   chan struct{}      // signals a change of a configuration file; its capacity is 1
	watch     context.CancelFunc // ends the watch of watched
	watched   []string           // configuration files that are watched
	again     bool               // the next change signal concerns a rejected configuration
	// starting is true until the first attempt to read each document of the first configuration has ended.
	starting bool
	// failed is the error that ends Run: the documents show that the first configuration is invalid.
	failed error
}

// start starts the goroutines of the sources and of the guard that a deployment does not share with an earlier one.
func (r *runner) start(d *deployment) {
	r.startAPIs(d.apis)
	if d.guard != nil && d.stopGuard == nil {
		d.stopGuard = r.spawn(d.guard.Run)
	}
	if d == r.inUse {
		r.watchConfig(d)
	}
}

// stop stops the sources and the guard of d that stays does not use.
func (r *runner) stop(d, stays *deployment) {
	d.apis.Stop(stays.apis)
	if d.stopGuard != nil && d.guard != stays.guard {
		d.stopGuard()
	}
}

// coalesce is how long the runner waits for more documents before it builds a generation. Many documents arrive within
// moments at startup, and each generation costs a pass over all tools. The first generation is built at once.
const coalesce = 20 * time.Millisecond

// trimAfter is the delay between a change and the release of the memory that reading the document took. The tree of a
// document is many times as large as the part that is kept. Collecting, releasing and touching memory again for the
// next document costs calls more than reading a small document, so the runner waits for the last of several changes.
const trimAfter = 5 * time.Second

// trimAtStart replaces trimAfter until the first attempt to read each document has ended: there are no calls to delay
// yet, and the memory used right after startup is what users measure.
const trimAtStart = 50 * time.Millisecond

// trimDelay returns trimAtStart or trimAfter, whichever applies now.
func (g *Gateway) trimDelay() time.Duration {
	select {
	case <-g.attempted:
		return trimAfter
	default:
		return trimAtStart
	}
}

func (r *runner) loop(ctx context.Context) {
	dirty := false
	timer, trim := time.NewTimer(time.Hour), time.NewTimer(time.Hour)
	timer.Stop()
	trim.Stop()
	defer timer.Stop()
	defer trim.Stop()
	for {
		select {
		case <-ctx.Done():
			if r.next != nil {
				r.fail(r.next, ctx.Err())
			}
			return
		case u := <-r.updates:
			changed := false
			r.survive("a document was taken over", func() { changed = r.take(u) })
			if r.failed = r.checkStart(); r.failed != nil {
				return // so the access that it would have granted is not recorded
			}
			if u.Document != nil {
				trim.Reset(r.trimDelay())
			}
			switch {
			case !changed:
			case r.current() == nil || len(u.Source.Accepting) > 0:
				r.surviving("what is served was built", r.publish)
			case !dirty:
				dirty = true
				timer.Reset(coalesce)
			}
			u.Source.AnswerAccepted(u)
		case <-timer.C:
			dirty = false
			r.surviving("what is served was built", r.publish)
		case <-trim.C:
			r.spawn(func(context.Context) error { debug.FreeOSMemory(); return nil })
		case req := <-r.reloads:
			r.takeReload(req)
		case a := <-r.accepts:
			if r.surviving("a document was accepted", func() { r.accept(a) }) {
				a.Done <- errStepPanicked // its buffer holds both answers
			}
		case <-r.changed:
			again := r.again
			if r.again = false; !again {
				r.log.Info("configuration file changed")
			}
			r.takeReload(reload{again: again})
		case <-r.requested:
			r.takeReload(reload{asked: true})
		}
		for r.next != nil && r.next.apis.Settled(r.next.turn) || r.next == nil && r.later != nil {
			if r.next != nil {
				r.surviving("a configuration came into use", r.promoteOrRefuse)
				timer.Stop()
				dirty = false
				continue
			}
			later := r.later
			r.later = nil
			r.takeReload(*later)
		}
	}
}

// surviving runs a step and recovers from a panic, which may leave the step half done: a reload that is under way is
// aborted, and the served generation stays.
func (r *runner) surviving(what string, step func()) (panicked bool) {
	if !r.survive(what, step) {
		return false
	}
	next := r.next
	r.next = nil
	r.survive("a reload was given up", func() {
		r.fail(r.inUse, errStepPanicked)
		if next != nil {
			r.fail(next, errStepPanicked)
			r.stop(next, r.inUse)
		}
		r.access = widening.Of(r.inUse.config, r.access)
	})
	return true
}

// take records the outcome of an attempt and reports whether operators or clients have something new to see.
func (r *runner) take(u source.Update) bool {
	s := u.Source
	inUse := r.inUse.apis.Has(s)
	if !inUse && (r.next == nil || !r.next.apis.Has(s)) {
		return false
	}
	if s.Restore(u) {
		if inUse {
			r.inUse.apis.NameSources()
		}
		if u.Early || u.Err != nil {
			r.log.Warn("serving the stored document until its origin can be read", "api", s.Name,
				"spec", redact.Location(s.Config.Spec.String()), "read_at", u.Stored.Read)
		}
	}
	if u.Early {
		return inUse
	}
	first, failedBefore, name := !s.Tried, s.Err != nil, s.Name
	s.Attempted(u)
	switch {
	case u.Err != nil:
		r.metrics.Loaded(name, telemetry.LoadFailed)
		r.log.Warn("document can't be used", "api", name, "spec", redact.Location(s.Config.Spec.String()), "error", u.Err,
			"last_good_one_served", s.Document != nil, "next_try", u.NextTry)
	case u.Document == nil:
		r.metrics.Loaded(name, telemetry.LoadUnchanged)
	case r.holds(s, u):
	default:
		r.use(s, u)
		if name = s.NameFor(u.Document.Title); inUse {
			r.inUse.apis.NameSources()
			name = s.Name
		}
		r.metrics.Loaded(name, telemetry.LoadChanged)
		api := u.Document.API
		r.log.Info("document read", "api", name, "spec", redact.Location(s.Config.Spec.String()), "standard", u.Document.Standard,
			"operations", len(api.Operations), "skipped", len(api.Skipped), "problems", len(api.Problems))
	}
	released := u.Document != nil && r.release()
	return released || inUse && (first || u.Document != nil || failedBefore || u.Err != nil)
}

// publish builds and serves a generation of the current deployment. The first generation waits for documents that
// decide whether a restriction matches anything; the next update publishes it.
func (r *runner) publish() {
	if r.starting && r.current() == nil && r.inUse.apis.CheckSelectors().Early {
		r.setStatus(nil, r.inUse, r.newest())
		return
	}
	r.serve(r.inUse, r.newest())
}

// checkStart returns an error if a restriction of the first configuration matches nothing in the documents. It checks
// only until the first attempt to read each document has ended; later documents are quarantined instead.
func (r *runner) checkStart() error {
	if !r.starting {
		return nil
	}
	r.starting = slices.ContainsFunc(r.inUse.apis.Sources, func(s *source.Source) bool { return !s.Tried })
	result := r.inUse.apis.CheckSelectors()
	err := result.Unmatched.Err()
	if err == nil && !r.starting {
		access := r.access
		if r.next != nil { // a reload is under way
			access = widening.Of(r.inUse.config, r.access)
		}
		r.record.Note(access)
	}
	return err
}

// notInUse tells why the newest configuration is not in use; it is zero if it is.
type notInUse struct {
	refused string   // the reason why it was rejected
	opens   []string // the access that it would open, if it awaits acceptance
}

// newest tells why the newest configuration is not in use.
func (r *runner) newest() notInUse { return notInUse{r.refused, r.held} }
