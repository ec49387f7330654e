package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/widening"
	"drawbridge/openapi"
)

// update is the outcome of one attempt of a source. Neither an error nor anything loaded means that the document is
// unchanged.
type update struct {
	source  *source
	turn    int64 // the last turn that the source had been asked for when the attempt began
	loaded  *loaded
	copy    *openapi.Copy // of what was loaded, for the archive; nil: there is none
	base    *loaded       // from the archive, for a source that has nothing yet; nil: it is not needed
	early   bool          // the attempt goes on: there is the base alone
	err     error
	nextTry time.Time
}

// reload is a request to read the configuration and all documents anew.
type reload struct {
	done  []chan<- error // of those who wait for its end; nobody: it is in the log
	asked bool           // somebody asked for it, and accepts what it opens; else a file has changed
	again bool           // of a configuration that was refused, to see whether a file has come just before it was watched
}

// replaceFor is how long newer configurations replace the one whose documents are read, from the first of them on. Those that come later
// wait for its end: else none would come into use while they come faster than documents are read.
const replaceFor = 5 * time.Second

// Run loads the documents, keeps them fresh, watches files and takes reloads, until ctx ends. It is called once
// and returns when all of its goroutines have ended; then the error is nil.
func (g *Gateway) Run(ctx context.Context) error {
	if !g.running.CompareAndSwap(false, true) {
		return errors.New("the gateway runs already")
	}
	defer close(g.ended)
	defer g.watches.end()
	group, ctx := errgroup.WithContext(ctx)
	r := &runner{g: g, ctx: ctx, group: group, current: g.first, changed: make(chan struct{}, 1), starting: true, access: widening.Of(g.first.config, g.record.before())}
	g.first = nil
	if len(r.current.sources) == 0 { // nothing will ever be published
		g.isAttempted.Do(func() { close(g.attempted) })
	}
	if g.archive != nil {
		g.archive.names(r.current)
		group.Go(func() error { g.keepDocuments(ctx); return nil })
	}
	r.start(r.current)
	if len(r.current.sources) == 0 {
		g.record.note(r.access)
	}
	if g.record != nil {
		group.Go(func() error { g.record.run(ctx); return nil })
	}
	group.Go(func() error { g.Keep(ctx, "changes were taken over", r.loop); return r.failed })
	if s := g.shared.store; s != nil {
		group.Go(func() error { return s.Run(ctx) })
	}
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// runner is the one writer: its goroutine alone decides what is served.
type runner struct {
	g       *Gateway
	ctx     context.Context // of Run, whose goroutine the runner is
	group   *errgroup.Group
	current *deployment       // what is served, or will be as soon as one API is up
	next    *deployment       // a reload whose sources have not all answered; nil: none
	since   time.Time         // when next, or the first of those that it replaced, was read
	later   *reload           // begins when next has come into use; nil: none
	turn    int64             // counts reloads
	refused string            // why the newest configuration was refused; "" if it was not
	access  *widening.Summary // what next allows, or else current
	changed chan struct{}
	watch   context.CancelFunc
	watched []string // files of the configuration
	again   bool     // the next sign of a change is about one that was refused
	// starting is true until each document of the first configuration was read once, or could not be.
	starting bool
	// failed is the error that ends Run: the first configuration can't be used with the documents.
	failed error
}

// start begins the goroutines of what is new in a deployment.
func (r *runner) start(d *deployment) {
	var kept []*source
	for _, s := range d.sources {
		if s.cancel == nil && s.archiveID != "" && !s.adopted {
			kept = append(kept, s)
		}
	}
	r.g.expect(r.ctx, kept)
	for _, s := range d.sources {
		if s.cancel == nil {
			var ctx context.Context
			ctx, s.cancel = context.WithCancel(r.ctx)
			if s.adopted {
				s.counted()
			}
			r.group.Go(func() error { r.g.Keep(ctx, "a document was looked after", func() { s.run(ctx) }); return nil })
		}
	}
	if d.guard != nil && d.stopGuard == nil {
		var ctx context.Context
		ctx, d.stopGuard = context.WithCancel(r.ctx)
		r.group.Go(func() error { return d.guard.Run(ctx) })
	}
	if d == r.current {
		r.watchConfig(d)
	}
}

// stop ends what a deployment has and the one that stays does not.
func (r *runner) stop(d, stays *deployment) {
	for _, s := range d.sources {
		if !stays.has(s) {
			s.leaves.Store(true)
			if s.cancel != nil { // it was started
				s.cancel()
			}
			s.close()
			for _, a := range s.accepting {
				answer([]chan<- error{a.done}, admin.ErrChanged)
			}
			s.accepting = nil
		}
	}
	for _, s := range stays.sources {
		s.leaves.Store(false)
	}
	if d.stopGuard != nil && d.guard != stays.guard {
		d.stopGuard()
	}
}

// coalesce is how long the runner waits for more documents before it builds a generation: at start many arrive
// within moments, and each generation costs a pass over all tools. The first one is served at once.
const coalesce = 20 * time.Millisecond

// trimAfter is how long the runner waits after a change before it gives back the memory that reading took. A
// document's tree is many times as large as what is kept of it. To collect, give back, and touch again for the next document costs
// calls more than all of a small document, so the last of several changes is waited for.
const trimAfter = 5 * time.Second

// trimAtStart is the same until each document was read once: nobody is held up then, and what is needed at first is what the
// gateway is measured by.
const trimAtStart = 50 * time.Millisecond

// trimDelay is the one of both that holds now.
func (g *Gateway) trimDelay() time.Duration {
	select {
	case <-g.attempted:
		return trimAfter
	default:
		return trimAtStart
	}
}

func (r *runner) loop() {
	dirty := false
	timer, trim := time.NewTimer(time.Hour), time.NewTimer(time.Hour)
	timer.Stop()
	trim.Stop()
	defer timer.Stop()
	defer trim.Stop()
	for {
		select {
		case <-r.ctx.Done():
			if r.next != nil {
				r.fail(r.next, r.ctx.Err())
			}
			return
		case u := <-r.g.updates:
			changed := false
			r.g.survive("a document was taken over", func() { changed = r.take(u) })
			if r.failed = r.checkStart(); r.failed != nil {
				return // and what it would have allowed is not recorded
			}
			if u.loaded != nil {
				trim.Reset(r.g.trimDelay())
			}
			switch {
			case !changed:
			case r.g.current.Load() == nil || len(u.source.accepting) > 0:
				r.surviving("what is served was built", r.publish)
			case !dirty:
				dirty = true
				timer.Reset(coalesce)
			}
			r.answerAccepted(u)
		case <-timer.C:
			dirty = false
			r.surviving("what is served was built", r.publish)
		case <-trim.C:
			r.group.Go(func() error { debug.FreeOSMemory(); return nil })
		case req := <-r.g.reloads:
			r.takeReload(req)
		case a := <-r.g.accepts:
			if r.surviving("a document was accepted", func() { r.accept(a) }) {
				a.done <- errStepPanicked // it has room for both answers
			}
		case <-r.changed:
			again := r.again
			if r.again = false; !again {
				r.g.log.Info("configuration file changed")
			}
			r.takeReload(reload{again: again})
		case <-r.g.requested:
			r.takeReload(reload{asked: true})
		}
		for r.next != nil && r.next.settled() || r.next == nil && r.later != nil {
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

// surviving runs a step that may be halfway when it panics. A reload that is under way is given up then, and what is served goes on.
func (r *runner) surviving(what string, step func()) (panicked bool) {
	if !r.g.survive(what, step) {
		return false
	}
	next := r.next
	r.next = nil
	r.g.survive("a reload was given up", func() {
		r.fail(r.current, errStepPanicked)
		if next != nil {
			r.fail(next, errStepPanicked)
			r.stop(next, r.current)
		}
		r.access = widening.Of(r.current.config, r.access)
	})
	return true
}

// takeReload is reload, for somebody who waits for its end whatever happens.
func (r *runner) takeReload(req reload) {
	if r.next != nil && time.Since(r.since) >= r.g.o.replaceFor {
		if r.later == nil {
			r.later = &reload{}
		}
		r.later.done, r.later.asked = append(r.later.done, req.done...), r.later.asked || req.asked
		return
	}
	if r.surviving("a configuration was read", func() { r.reload(req) }) {
		answer(req.done, errStepPanicked)
	}
}

// answer tells the outcome of a reload, once: who has got one waits for no other.
func answer(done []chan<- error, err error) {
	for _, d := range done {
		select {
		case d <- err:
		default:
		}
	}
}

// take notes the outcome of an attempt and tells whether operators or clients have something new to see.
func (r *runner) take(u update) bool {
	s := u.source
	known := r.current.has(s) || r.next != nil && r.next.has(s)
	if !known {
		return false
	}
	if s.loaded == nil && u.base != nil {
		s.loaded, s.confirmed = u.base, u.base.at
		if r.current.has(s) {
			r.current.nameSources()
		}
		if u.early || u.err != nil {
			r.g.log.Warn("the document of an earlier run is served until its origin can be read", "api", s.name,
				"spec", display(s.config.Spec.String()), "read_at", u.base.at)
		}
	}
	if u.early {
		s.unconfirmed = s.loaded == u.base
		return r.current.has(s)
	}
	first, failedBefore, name := !s.tried, s.err != nil, s.name
	s.tried, s.unconfirmed, s.answered, s.err, s.nextTry = true, false, u.turn, u.err, u.nextTry
	if u.err == nil {
		s.confirmed = time.Now()
	}
	switch {
	case u.err != nil:
		r.g.metrics.loads.WithLabelValues(name, "failed").Inc()
		r.g.log.Warn("document can't be used", "api", name, "spec", display(s.config.Spec.String()), "error", u.err,
			"last_good_one_served", s.loaded != nil, "next_try", u.nextTry)
	case u.loaded == nil:
		r.g.metrics.loads.WithLabelValues(name, "unchanged").Inc()
	case r.holds(s, u):
	default:
		r.accepted(s, u)
		if name = s.nameFor(u.loaded.title); r.current.has(s) {
			r.current.nameSources()
			name = s.name
		}
		r.g.metrics.loads.WithLabelValues(name, "changed").Inc()
		api := u.loaded.api
		r.g.log.Info("document read", "api", name, "spec", display(s.config.Spec.String()), "standard", u.loaded.standard,
			"operations", len(api.Operations), "skipped", len(api.Skipped), "problems", len(api.Problems))
	}
	s.counted()
	released := u.loaded != nil && r.release()
	return released || r.current.has(s) && (first || u.loaded != nil || failedBefore || u.err != nil)
}

// publish makes what the current deployment has loaded the generation that is served. Before the first one, it waits for
// documents that decide whether a restriction matches anything: the next of them publishes.
func (r *runner) publish() {
	if r.starting && r.g.current.Load() == nil && r.current.checkSelectors().early {
		r.g.setStatus(nil, r.current, r.refused)
		return
	}
	r.g.publish(r.current, r.refused)
}

// checkStart returns the error of the first configuration if one of its restrictions matches nothing in the documents. It
// does so until each of them was read once; after that, documents are held instead.
func (r *runner) checkStart() error {
	if !r.starting {
		return nil
	}
	r.starting = slices.ContainsFunc(r.current.sources, func(s *source) bool { return !s.tried })
	result := r.current.checkSelectors()
	err := result.refusal()
	if err == nil && !r.starting {
		access := r.access
		if r.next != nil { // a reload is under way
			access = widening.Of(r.current.config, r.access)
		}
		r.g.record.note(access)
	}
	return err
}

// reload begins to replace the configuration. It is served when all of its sources have looked at their documents.
func (r *runner) reload(req reload) {
	c := r.current.config
	if r.g.o.LoadConfig != nil {
		var err error
		if c, err = r.g.o.LoadConfig(); err != nil {
			r.refuse(req, err)
			var refusal *config.Refusal
			if errors.As(err, &refusal) {
				r.watchRefused(refusal.Files())
			}
			return
		}
	}
	if started := r.g.o.Config.Server.Listen; c.Auth == nil && !started.Loopback() && !r.g.o.Local {
		// The configuration is good for the loopback address that it asks for, but the listener is still the old one.
		r.refuse(req, fmt.Errorf("auth: the gateway listens on %s, and a configuration without auth is for loopback addresses; "+
			"keep auth, or restart the gateway", started))
		return
	}
	served := c.ServedAs(r.g.o.Config)
	opens, ok := r.permits(req, served)
	if !ok {
		r.watchRefused(c.Files())
		return
	}
	next, err := r.g.deploy(served, r.current)
	if err != nil {
		r.refuse(req, err)
		r.watchRefused(c.Files())
		return
	}
	r.opened(served, opens)
	if r.next != nil {
		r.stop(r.next, r.current)
		next.waiters = r.next.waiters // who waits for the older reload gets the newer one
	} else {
		r.since = time.Now()
	}
	r.turn++
	if req.again {
		next.refusedBefore = r.refused
	}
	next.turn, next.waiters = r.turn, append(next.waiters, req.done...)
	r.next, r.refused = next, ""
	for _, s := range r.current.sources {
		s.leaves.Store(!next.has(s))
	}
	for _, s := range next.sources {
		s.ask(r.turn) // also those that run already: the reload waits for what they find now
	}
	r.start(next)
	if keys := restartKeys(r.g.o.Config, c); len(keys) > 0 {
		r.g.log.Warn("these settings changed and take effect at the next start", "keys", keys)
	}
}

func (r *runner) refuse(req reload, err error) {
	told := req.again && r.refused == err.Error()
	r.refused, r.g.held = err.Error(), nil
	if !told {
		r.g.metrics.reloads.WithLabelValues("failed").Inc()
		r.g.log.Error("configuration refused, the last good one stays", "error", err)
	}
	r.g.setStatus(r.g.current.Load(), r.current, r.refused)
	answer(req.done, err)
}

func (r *runner) fail(d *deployment, err error) {
	answer(d.waiters, fmt.Errorf("reload: %w", err))
	d.waiters = nil
}

// promoteOrRefuse makes the next deployment the current one unless one of its restrictions matches nothing, or a document that only it
// has read would undo one.
func (r *runner) promoteOrRefuse() {
	result := r.next.checkSelectors()
	err := errors.Join(result.refusal(), r.undoes(r.next))
	if err == nil {
		r.promote()
		return
	}
	next := r.next
	r.next = nil
	r.stop(next, r.current)
	r.current.nameSources()
	r.access = widening.Of(r.current.config, r.access)
	r.refused = next.refusedBefore
	r.refuse(reload{done: next.waiters, again: next.refusedBefore != ""}, err)
	r.watchRefused(next.config.Files())
}

// undoes returns the error of a deployment whose sources hold documents and serve none meanwhile, since their settings are new. An operator
// accepts such a document for the API that is in use, which reads it now.
func (r *runner) undoes(next *deployment) error {
	var problems []error
	for _, s := range next.sources {
		if s.loaded != nil || s.held == nil || s.held.unrestricted == nil || r.current.has(s) {
			continue
		}
		old := r.current.predecessor(s)
		if old == nil {
			continue
		}
		old.readAnew()
		problems = append(problems, fmt.Errorf("%s: the document of API %q is a newer one that would undo restrictions; accept it (POST /apis/%s/accept), or correct the configuration: %s",
			next.selectors.entries[s], old.name, old.name, first(s.held.unrestricted)))
	}
	return errors.Join(problems...)
}

// promote makes the next deployment the current one.
func (r *runner) promote() {
	old := r.current
	r.current, r.next, r.starting = r.next, nil, false
	r.release()
	for _, s := range r.current.sources {
		if s.held != nil && s.held.unrestricted != nil && s.held.update == nil {
			s.readAnew() // its operations are not known any more, and this configuration may be made for them
		}
	}
	r.g.archive.names(r.current)
	r.g.record.note(r.access)
	panicked := r.g.survive("what is served was built", r.publish)
	r.stop(old, r.current)
	r.watchConfig(r.current)
	if panicked { // the old tools go on to be served, until a document changes
		r.g.metrics.reloads.WithLabelValues("failed").Inc()
		r.fail(r.current, errStepPanicked)
		return
	}
	if r.g.o.InUse != nil {
		r.g.o.InUse(r.current.config)
	}
	r.g.metrics.reloads.WithLabelValues("ok").Inc()
	r.g.log.Info("configuration in use", "apis", len(r.current.sources))
	answer(r.current.waiters, nil)
	r.current.waiters = nil
}

// watchConfig has the loop reload when a file of the configuration changes.
func (r *runner) watchConfig(d *deployment) {
	if r.watchFiles(d.files()) && d.config.Outdated() {
		signal(r.changed) // a document came or went after the configuration was loaded
	}
}

// watchRefused is watchFiles for the files of a configuration that was refused, beside those of the one in use: what it lacks, such as a secret
// that another mount brings, may come later.
func (r *runner) watchRefused(files []string) {
	files = append(r.current.files(), files...)
	slices.Sort(files)
	r.again = r.watchFiles(slices.Compact(files))
}

// watchFiles has the loop reload when one of these files changes. It tells whether they were others before.
func (r *runner) watchFiles(files []string) bool {
	if r.g.o.LoadConfig == nil || slices.Equal(files, r.watched) {
		return false
	}
	if old := r.watch; old != nil {
		defer old()       // after the next one has begun, so that no change falls between them
		signal(r.changed) // a file that is new here may have changed since it was read
	}
	r.watched = files
	var ctx context.Context
	ctx, r.watch = context.WithCancel(r.ctx)
	watcher := config.NewWatcher(files)
	r.group.Go(func() error {
		r.g.Keep(ctx, "the configuration was watched", func() {
			if err := watcher.Run(ctx, func(string) { signal(r.changed) }); err != nil {
				r.g.log.Warn("watching the configuration ended badly", "error", err)
			}
		})
		return nil
	})
	return true
}
