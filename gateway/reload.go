package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
)

// deployment is one configuration on its way to be served: its guard and its sources. It belongs to the goroutine
// of [Gateway.Run].
type deployment struct {
	config   *config.Config
	guard    *auth.Guard
	sources  []*source
	loadedAt time.Time

	stopGuard context.CancelFunc
	waiters   []chan<- error // reloads that wait for it to be served
}

// settled tells whether every source has been tried.
func (d *deployment) settled() bool {
	for _, s := range d.sources {
		if !s.tried {
			return false
		}
	}
	return true
}

// update is the outcome of one attempt of a source. Either field may be nil: no error and nothing loaded means
// that the document is unchanged.
type update struct {
	source  *source
	loaded  *loaded
	err     error
	nextTry time.Time
	took    chan struct{} // closed when the update was taken
}

type reload struct{ done chan error }

// deploy makes a deployment of a configuration. What did not change since old is taken over: a source with its
// connections and its document, a guard with its keys and its cache. The error tells all that is wrong.
func (g *Gateway) deploy(c *config.Config, old *deployment) (*deployment, error) {
	d := &deployment{config: c, loadedAt: time.Now()}
	var errs []error
	for _, api := range c.APIs {
		s := old.sourceOf(api, c.Limits)
		if s == nil {
			var err error
			if s, err = g.newSource(api, c.Limits); err != nil {
				errs = append(errs, err)
				continue
			}
			if err := s.adopt(old.loadedFrom(api.Spec)); err != nil {
				errs = append(errs, err)
				continue
			}
		}
		d.sources = append(d.sources, s)
	}
	if c.Auth != nil && !c.Auth.Anonymous {
		if old != nil && old.guard != nil && reflect.DeepEqual(old.config.Auth, c.Auth) && old.config.Resource() == c.Resource() {
			d.guard, d.stopGuard = old.guard, old.stopGuard
		} else if guard, err := newGuard(c, g); err != nil {
			errs = append(errs, err)
		} else {
			d.guard = guard
		}
	}
	return d, errors.Join(errs...)
}

func newGuard(c *config.Config, g *Gateway) (*auth.Guard, error) {
	o := auth.Options{
		Resource: c.Resource(), DefaultScopes: c.Auth.DefaultScopes, AllowUnscoped: c.Auth.AllowUnscoped,
		Implies: c.Auth.Implies, Logger: g.log,
	}
	var hosts []string
	for _, i := range c.Auth.Issuers {
		hosts = append(hosts, i.Issuer.URL().Hostname())
		issuer := auth.Issuer{URL: i.Issuer.String(), Audiences: i.Audiences, Types: i.AcceptTyp, Skew: time.Duration(i.Skew)}
		for _, a := range i.Algorithms {
			issuer.Algorithms = append(issuer.Algorithms, string(a))
		}
		o.Issuers = append(o.Issuers, issuer)
	}
	o.Client = upstream.NewClient(upstream.Options{Name: "issuers", NamedHosts: hosts}).Documents()
	return auth.New(o)
}

// sourceOf returns the source with the same configuration, nil if there is none.
func (d *deployment) sourceOf(api config.API, limits config.Limits) *source {
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if reflect.DeepEqual(s.config, api) && reflect.DeepEqual(s.limits, limits) {
			return s
		}
	}
	return nil
}

func (d *deployment) loadedFrom(spec config.Location) *loaded {
	if d == nil {
		return nil
	}
	for _, s := range d.sources {
		if s.config.Spec == spec {
			return s.loaded
		}
	}
	return nil
}

// Run loads the documents, keeps them fresh, watches files and takes reloads, until ctx ends. It is called once
// and returns when all of its goroutines have ended; then the error is nil.
func (g *Gateway) Run(ctx context.Context) error {
	if !g.running.CompareAndSwap(false, true) {
		return errors.New("the gateway runs already")
	}
	group, ctx := errgroup.WithContext(ctx)
	r := &runner{g: g, ctx: ctx, group: group, current: g.first}
	g.first = nil
	r.start(r.current)
	group.Go(func() error { return r.loop() })
	if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// runner is the one writer: its goroutine alone decides what is served.
type runner struct {
	g       *Gateway
	ctx     context.Context // of Run
	group   *errgroup.Group
	current *deployment // what is served, or will be as soon as one API is up
	next    *deployment // a reload whose sources have not all been tried; nil: none
	watch   context.CancelFunc
	watched []string // files of the configuration
}

// start begins the goroutines of what is new in a deployment.
func (r *runner) start(d *deployment) {
	for _, s := range d.sources {
		if s.cancel == nil {
			var ctx context.Context
			ctx, s.cancel = context.WithCancel(r.ctx)
			r.group.Go(func() error { s.run(ctx); return nil })
		}
	}
	if d.guard != nil && d.stopGuard == nil {
		var ctx context.Context
		ctx, d.stopGuard = context.WithCancel(r.ctx)
		r.group.Go(func() error { return d.guard.Run(ctx) })
	}
	if d == r.current {
		r.g.guard.Store(d.guard)
		r.watchConfig(d.config)
	}
}

// stop ends what a deployment has and the one that stays does not.
func (r *runner) stop(d, stays *deployment) {
	for _, s := range d.sources {
		if !stays.has(s) {
			s.cancel()
			s.close()
		}
	}
	if d.stopGuard != nil && d.guard != stays.guard {
		d.stopGuard()
	}
}

func (d *deployment) has(s *source) bool {
	for _, other := range d.sources {
		if other == s {
			return true
		}
	}
	return false
}

// coalesce is how long the runner waits for more documents before it builds a generation: at start many arrive
// within moments, and each generation costs a pass over all tools. The first one is served at once.
const coalesce = 20 * time.Millisecond

// trimAfter is how long the runner waits after a change before it gives back the memory that reading took. A
// document's tree is many times as large as what is kept of it.
const trimAfter = 50 * time.Millisecond

func (r *runner) loop() error {
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
			return nil
		case u := <-r.g.updates:
			changed := r.take(u)
			close(u.took)
			if u.loaded != nil {
				trim.Reset(trimAfter)
			}
			switch {
			case !changed:
			case r.g.current.Load() == nil:
				r.publish()
			case !dirty:
				dirty = true
				timer.Reset(coalesce)
			}
		case <-timer.C:
			dirty = false
			r.publish()
		case <-trim.C:
			r.group.Go(func() error { debug.FreeOSMemory(); return nil })
		case req := <-r.g.reloads:
			r.reload(req)
		}
		if r.next != nil && r.next.settled() {
			r.promote()
			dirty = false
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
	first, failedBefore := !s.tried, s.err != nil
	s.tried, s.err, s.nextTry = true, u.err, u.nextTry
	switch {
	case u.err != nil:
		r.g.metrics.loads.WithLabelValues(s.name, "failed").Inc()
		r.g.log.Warn("document can't be used", "api", s.name, "spec", display(s.config.Spec.String()), "error", u.err,
			"last_good_one_served", s.loaded != nil, "next_try", u.nextTry)
	case u.loaded == nil:
		r.g.metrics.loads.WithLabelValues(s.name, "unchanged").Inc()
	default:
		s.loaded = u.loaded
		if r.current.has(s) {
			r.current.nameSources() // the document may have a name for it
		} else {
			r.next.nameSources()
		}
		r.g.metrics.loads.WithLabelValues(s.name, "changed").Inc()
		api := u.loaded.api
		r.g.log.Info("document read", "api", s.name, "spec", display(s.config.Spec.String()), "standard", u.loaded.standard,
			"operations", len(api.Operations), "skipped", len(api.Skipped), "problems", len(api.Problems))
	}
	return r.current.has(s) && (first || u.loaded != nil || failedBefore || u.err != nil)
}

// publish leaves it told that a newer configuration was refused.
func (r *runner) publish() {
	r.g.publish(r.current, r.current.loadedAt, r.g.status.Load().Config.Error)
}

// reload begins to replace the configuration. It is served when all of its sources have been tried once.
func (r *runner) reload(req reload) {
	c := r.current.config
	if r.g.o.LoadConfig != nil {
		var err error
		if c, err = r.g.o.LoadConfig(); err != nil {
			r.refuse(req, err)
			return
		}
	}
	base := r.current
	next, err := r.g.deploy(c, base)
	if err != nil {
		r.refuse(req, err)
		return
	}
	if r.next != nil {
		r.stop(r.next, r.current)
		next.waiters = r.next.waiters // who waits for the older reload gets the newer one
	}
	next.waiters = append(next.waiters, req.done)
	kept := map[*source]bool{}
	for _, s := range next.sources {
		kept[s] = s.cancel != nil
	}
	r.next = next
	r.start(next)
	// Sources that stay are asked to look at their documents now; the reload waits for them too.
	for s, running := range kept {
		if running {
			s.tried = false
			r.group.Go(func() error { s.ask(r.ctx); return nil })
		}
	}
	if keys := restartKeys(r.g.o.Config, c); len(keys) > 0 {
		r.g.log.Warn("these settings changed and take effect at the next start", "keys", keys)
	}
}

// restartKeys lists the settings in which two configurations differ and which are read at the start alone.
func restartKeys(old, c *config.Config) []string {
	var keys []string
	for key, values := range map[string][2]any{
		"server.listen":          {old.Server.Listen, c.Server.Listen},
		"server.public_url":      {old.Server.PublicURL, c.Server.PublicURL},
		"server.seal_keys":       {revealed(old.Server.SealKeys), revealed(c.Server.SealKeys)},
		"server.allowed_hosts":   {old.Server.AllowedHosts, c.Server.AllowedHosts},
		"server.allowed_origins": {old.Server.AllowedOrigins, c.Server.AllowedOrigins},
		"server.shutdown_delay":  {old.Server.ShutdownDelay, c.Server.ShutdownDelay},
		"server.drain_timeout":   {old.Server.DrainTimeout, c.Server.DrainTimeout},
		"admin.listen":           {old.Admin.Listen, c.Admin.Listen},
		"admin.token":            {old.Admin.Token.Reveal(), c.Admin.Token.Reveal()},
		"limits.max_body":        {old.Limits.MaxBody, c.Limits.MaxBody},
		"limits.max_depth":       {old.Limits.MaxDepth, c.Limits.MaxDepth},
		"limits.max_header":      {old.Limits.MaxHeader, c.Limits.MaxHeader},
		"telemetry":              {old.Telemetry, c.Telemetry},
	} {
		if !reflect.DeepEqual(values[0], values[1]) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func revealed(secrets []config.Secret) []string {
	var texts []string
	for _, s := range secrets {
		texts = append(texts, s.Reveal())
	}
	return texts
}

func (r *runner) refuse(req reload, err error) {
	r.g.metrics.reloads.WithLabelValues("failed").Inc()
	r.g.log.Error("configuration refused, the last good one stays", "error", err)
	r.g.setStatus(r.g.current.Load(), r.current, err.Error())
	req.done <- err
}

func (r *runner) fail(d *deployment, err error) {
	for _, w := range d.waiters {
		w <- fmt.Errorf("reload: %w", err)
	}
	d.waiters = nil
}

// promote makes the next deployment the current one.
func (r *runner) promote() {
	old := r.current
	r.current, r.next = r.next, nil
	r.g.guard.Store(r.current.guard)
	r.g.publish(r.current, r.current.loadedAt, "")
	r.stop(old, r.current)
	r.watchConfig(r.current.config)
	r.g.metrics.reloads.WithLabelValues("ok").Inc()
	r.g.log.Info("configuration in use", "apis", len(r.current.sources))
	for _, w := range r.current.waiters {
		w <- nil
	}
	r.current.waiters = nil
}

// watchConfig reloads when a file of the configuration changes.
func (r *runner) watchConfig(c *config.Config) {
	if r.g.o.LoadConfig == nil || slices.Equal(c.Files(), r.watched) {
		return
	}
	if old := r.watch; old != nil {
		defer old() // after the next one has begun, so that no change falls between them
	}
	r.watched = c.Files()
	var ctx context.Context
	ctx, r.watch = context.WithCancel(r.ctx)
	watcher := config.NewWatcher(c.Files())
	r.group.Go(func() error {
		err := watcher.Run(ctx, func(path string) {
			r.g.log.Info("configuration changed", "file", path)
			if err := r.g.Reload(r.ctx); err != nil && r.ctx.Err() == nil {
				r.g.log.Warn("reload after a change of a file", "error", err)
			}
		})
		if err != nil && ctx.Err() == nil {
			r.g.log.Warn("files can't be watched; use SIGHUP or POST /reload", "error", err)
		}
		return nil
	})
}

// Back-off of a document that can't be read: doubled from the first to the last.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// run loads the document, again and again: after refresh, after a change of its files, when asked, and with
// back-off after a failure. It ends with ctx.
func (s *source) run(ctx context.Context) {
	defer close(s.ended)
	watch := fileWatch{source: s, changed: make(chan struct{}, 1)}
	defer watch.stop()
	var stamp *openapi.Stamp // of the document in use; nil makes the first attempt read it whatever it is
	var asked []chan<- struct{}
	retry := firstRetry
	if !s.config.Spec.IsURL() {
		watch.start(ctx, []string{s.config.Spec.String()})
	}
	for {
		l, err := s.load(ctx, stamp)
		if ctx.Err() != nil {
			return
		}
		u := update{source: s, loaded: l, err: err, took: make(chan struct{})}
		var wait time.Duration
		switch {
		case err == nil:
			stamp = &l.stamp
			retry, wait = firstRetry, s.refresh()
			if !s.config.Spec.IsURL() && watch.start(ctx, l.stamp.Files) {
				wait = time.Nanosecond // look again: a new file may have changed before it was watched
			}
		case errors.Is(err, openapi.ErrUnchanged):
			u.err = nil
			retry, wait = firstRetry, s.refresh()
		default:
			wait = retry/2 + rand.N(retry/2+1)
			retry = min(2*retry, lastRetry)
		}
		var timer <-chan time.Time
		if wait > 0 {
			u.nextTry = time.Now().Add(wait)
			timer = time.After(wait)
		}
		select {
		case s.g.updates <- u:
			<-u.took
		case <-ctx.Done():
			return
		}
		for _, done := range asked {
			close(done)
		}
		asked = nil
		select {
		case <-ctx.Done():
			return
		case <-timer:
		case <-watch.changed:
		case done := <-s.poke:
			asked = append(asked, done)
		}
	}
}

// refresh is when to look at a document that could be read; 0: never. Ten per cent of chance keep many replicas
// from asking at the same moment.
func (s *source) refresh() time.Duration {
	d := time.Duration(s.config.Refresh)
	if d == 0 || !s.config.Spec.IsURL() {
		return 0
	}
	return d - d/20 + rand.N(d/10+1)
}

// fileWatch watches the files of one document, one set at a time.
type fileWatch struct {
	source  *source
	changed chan struct{}
	files   []string
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// start watches another set of files and tells whether it is another.
func (w *fileWatch) start(ctx context.Context, files []string) bool {
	if slices.Equal(files, w.files) {
		return false
	}
	old := w.cancel
	w.files = files
	ctx, w.cancel = context.WithCancel(ctx)
	watcher := config.NewWatcher(files)
	w.running.Go(func() {
		err := watcher.Run(ctx, func(string) {
			select {
			case w.changed <- struct{}{}:
			default: // a look at the files is due already
			}
		})
		if err != nil && ctx.Err() == nil {
			w.source.g.log.Warn("document can't be watched; use SIGHUP or POST /reload", "spec", w.source.config.Spec.String(), "error", err)
		}
	})
	if old != nil {
		old()
	}
	return true
}

// stop returns when nothing is watched any more.
func (w *fileWatch) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	w.running.Wait()
}

// ask makes the source look at its document now and returns when the outcome has been taken.
func (s *source) ask(ctx context.Context) {
	done := make(chan struct{})
	select {
	case s.poke <- done:
	case <-s.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-s.ended:
	case <-ctx.Done():
	}
}
