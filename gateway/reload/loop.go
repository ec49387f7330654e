package reload

import (
	"context"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/gateway/generation"
	"drawbridge/gateway/recovery"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/source"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/widening"
)

// writer is the single writer: its goroutine alone decides what is served.
type writer struct {
	*Runner
	// spawn runs f in a goroutine of Run until Run ends or the returned function is called.
	spawn func(f func(ctx context.Context) error) context.CancelFunc
	// startAPIs starts the goroutines of APIs, until Run ends or they are stopped.
	startAPIs       func(apis *source.Set)
	watch           *configWatch
	inUse           *deployment       // the deployment that is served, or that will be as soon as one of its APIs is loaded
	next            *deployment       // the deployment of a reload, until all of its sources have answered; nil if no reload is under way
	since           time.Time         // when next, or the first deployment that it replaced, was read
	later           *request          // the queued reload, which begins when next is in use, or nil
	turn            int64             // number of the newest reload
	refused         string            // the reason why the newest configuration was rejected, or ""
	held            []string          // the access that a configuration awaiting acceptance would open
	access          *widening.Summary // access granted by next, or by inUse if there is no reload
	servicesChanged bool              // other services are known than those in use, and a reload is under way
	// starting is true until the first attempt to read each document of the first configuration has ended.
	starting bool
	// failed is the error that ends Run: the documents show that the first configuration is invalid.
	failed error
}

// deployment is a deployment with the state of its reload.
type deployment struct {
	*generation.Deployment
	// refusedBefore is the logged reason why the same configuration was rejected before; "" if it was not.
	refusedBefore string
	turn          int64              // number of the reload that its sources must have answered before it replaces another deployment
	stopGuard     context.CancelFunc // stops the goroutine of Guard; nil before it was started
	waiters       []chan<- error     // receive the outcome of the reload
}

// newWriter returns the writer of a runner, whose goroutines are those of group.
func newWriter(r *Runner, ctx context.Context, group *errgroup.Group) *writer {
	w := &writer{
		Runner: r, inUse: &deployment{Deployment: r.first}, starting: true, access: widening.Of(r.first.Config, r.o.Recorder.Previous()),
		startAPIs: func(apis *source.Set) { apis.Start(ctx, group) },
		spawn: func(f func(context.Context) error) context.CancelFunc {
			ctx, cancel := context.WithCancel(ctx)
			group.Go(func() error { return f(ctx) })
			return cancel
		},
	}
	w.watch = &configWatch{changed: make(chan struct{}, 1), off: r.o.LoadConfig == nil, spawn: w.spawn, recovery: r.o.Recovery, log: r.o.Log}
	return w
}

// start starts the goroutines of the sources and of the guard that a deployment does not share with an earlier one.
func (w *writer) start(d *deployment) {
	w.startAPIs(d.APIs)
	if d.Guard != nil && d.stopGuard == nil {
		d.stopGuard = w.spawn(d.Guard.Run)
	}
	if d == w.inUse {
		w.watch.follow(d)
	}
}

// stop stops the sources and the guard of d, except for those that stays uses too.
func (w *writer) stop(d, stays *deployment) {
	d.APIs.Stop(stays.APIs)
	if d.stopGuard != nil && d.Guard != stays.Guard {
		d.stopGuard()
	}
}

// coalesce is how long the runner waits for more documents before it builds a generation. Many documents arrive within
// moments at startup, and each generation costs a pass over all tools. The first generation is built at once.
const coalesce = 20 * time.Millisecond

// statusDelay is how long the runner waits for the outcomes of more attempts before the status has their times. The status costs a pass over
// all APIs.
const statusDelay = 250 * time.Millisecond

// pending is the delayed work of the loop.
type pending struct {
	dirty         bool        // whether documents have changed since the last generation
	publish, trim *time.Timer // for the next generation, and for releasing memory
	tried         bool        // whether attempts have ended since the last status
	status        *time.Timer // for the next status
}

func newPending() *pending {
	p := &pending{publish: time.NewTimer(time.Hour), trim: time.NewTimer(time.Hour), status: time.NewTimer(time.Hour)}
	p.stop()
	return p
}

func (p *pending) stop() {
	p.publish.Stop()
	p.trim.Stop()
	p.status.Stop()
}

func (w *writer) loop(ctx context.Context) {
	p := newPending()
	defer p.stop()
	for {
		select {
		case <-ctx.Done():
			if w.next != nil {
				w.next.fail(ctx.Err())
			}
			return
		case u := <-w.o.Updates:
			if w.update(u, p); w.failed != nil {
				return // so the access that it would have granted is not recorded
			}
		case <-p.publish.C:
			p.dirty = false
			w.step("what is served was built", w.publish)
		case <-p.status.C:
			p.tried = false
			w.step("the status was published", func() { w.served.SetStatus(w.served.Current(), w.inUse.Deployment, w.newest()) })
		case <-p.trim.C:
			w.spawn(func(context.Context) error { debug.FreeOSMemory(); return nil })
		case req := <-w.reloads:
			w.takeReload(req)
		case a := <-w.accepts:
			if w.step("a document was accepted", func() { w.accept(a) }) {
				a.Done <- recovery.ErrPanicked // its buffer holds both answers
			}
		case <-w.watch.changed:
			again := w.watch.takeAgain()
			if !again {
				w.o.Log.Info("configuration file changed")
			}
			w.takeReload(request{again: again})
		case <-w.requested:
			w.takeReload(request{asked: true})
		case <-w.o.Services.Changed():
			w.step("services were taken over", w.takeServices)
		}
		w.proceed(p)
	}
}

// update takes over the outcome of a source's attempt, and builds a generation now or a moment later if there is something
// new to see.
func (w *writer) update(u source.Update, p *pending) {
	changed := false
	w.o.Recovery.Step("a document was taken over", func() { changed = w.take(u) })
	if w.failed = w.checkStart(); w.failed != nil {
		return
	}
	if u.Document != nil {
		p.trim.Reset(w.trimDelay())
	}
	switch {
	case !changed && !p.tried && !u.Early:
		p.tried = true
		p.status.Reset(statusDelay)
	case !changed:
	case w.served.Current() == nil || len(u.Source.Accepting) > 0:
		w.step("what is served was built", w.publish)
	case !p.dirty:
		p.dirty = true
		p.publish.Reset(coalesce)
	}
	u.Source.AnswerAccepted(u)
}

// proceed puts the next deployment into use once all of its sources have answered, and begins the reload that waits for it.
func (w *writer) proceed(p *pending) {
	for w.next != nil && w.next.APIs.Settled(w.next.turn) || w.next == nil && (w.later != nil || w.servicesChanged) {
		if w.next != nil {
			w.step("a configuration came into use", w.promoteOrRefuse)
			p.publish.Stop()
			p.dirty = false
			continue
		}
		if w.servicesChanged {
			w.step("services were taken over", w.takeServices)
			continue
		}
		later := w.later
		w.later = nil
		w.takeReload(*later)
	}
}

// step runs a step and recovers from a panic, which may leave the step half done: a reload that is under way is
// aborted, and the served generation stays.
func (w *writer) step(what string, step func()) (panicked bool) {
	if !w.o.Recovery.Step(what, step) {
		return false
	}
	next := w.next
	w.next = nil
	w.o.Recovery.Step("a reload was given up", func() {
		w.inUse.fail(recovery.ErrPanicked)
		if next != nil {
			next.fail(recovery.ErrPanicked)
			w.stop(next, w.inUse)
		}
		w.access = widening.Of(w.inUse.Config, w.access)
	})
	return true
}

// take records the outcome of an attempt and reports whether operators or clients have something new to see.
func (w *writer) take(u source.Update) bool {
	s := u.Source
	inUse := w.inUse.APIs.Has(s)
	if !inUse && (w.next == nil || !w.next.APIs.Has(s)) {
		return false
	}
	if s.Restore(u) {
		if inUse {
			w.inUse.APIs.NameSources()
		}
		if u.Early || u.Err != nil {
			w.o.Log.Warn("serving the stored document until its origin can be read", "api", s.Name,
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
		w.o.Metrics.Loaded(name, telemetry.LoadFailed)
		w.o.Log.Warn("document can't be used", "api", name, "spec", redact.Location(s.Config.Spec.String()), "error", u.Err,
			"last_good_one_served", s.Document != nil, "next_try", u.NextTry)
	case u.Document == nil:
		w.o.Metrics.Loaded(name, telemetry.LoadUnchanged)
	case w.holds(s, u):
	default:
		w.use(s, u)
		if name = s.NameFor(u.Document.Title); inUse {
			w.inUse.APIs.NameSources()
			name = s.Name
		}
		w.o.Metrics.Loaded(name, telemetry.LoadChanged)
		api := u.Document.API
		w.o.Log.Info("document read", "api", name, "spec", redact.Location(s.Config.Spec.String()), "standard", u.Document.Standard,
			"operations", len(api.Operations), "skipped", len(api.Skipped), "problems", len(api.Problems))
	}
	released := u.Document != nil && w.release()
	return released || inUse && (first || u.Document != nil || failedBefore || u.Err != nil)
}

// publish builds and serves a generation of the current deployment. The first generation waits for documents that
// decide whether a restriction matches anything; the next update publishes it.
func (w *writer) publish() {
	if w.starting && w.served.Current() == nil && w.inUse.APIs.CheckSelectors().Early {
		w.served.SetStatus(nil, w.inUse.Deployment, w.newest())
		return
	}
	w.Runner.publish(w.inUse.Deployment, w.newest())
}

// checkStart returns an error if a restriction of the first configuration matches nothing in the documents. It checks
// only until the first attempt to read each document has ended; later documents are quarantined instead.
func (w *writer) checkStart() error {
	if !w.starting {
		return nil
	}
	w.starting = !w.inUse.Tried()
	result := w.inUse.APIs.CheckSelectors()
	err := result.Unmatched.Err()
	if err == nil && !w.starting {
		access := w.access
		if w.next != nil { // a reload is under way
			access = widening.Of(w.inUse.Config, w.access)
		}
		w.o.Recorder.Note(access)
	}
	return err
}

// newest returns the reason why the newest configuration is not in use.
func (w *writer) newest() NotInUse { return NotInUse{w.refused, w.held} }
