package consul

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/discovery"
)

// Times and limits of the queries.
const (
	maxWaiting    = 100                    // queries that wait at a time: an agent allows a client 200 connections
	shortWait     = time.Second            // how long a query waits while others await their turn
	leastInterval = 500 * time.Millisecond // between two answers to one query: an index may change all the time
	firstRetry    = 500 * time.Millisecond // after a failure; it doubles
	longestRetry  = 30 * time.Second       // of the instances of one service
	catalogRetry  = 4 * time.Second        // of the names of services: with it, all others are asked again
	settle        = 50 * time.Millisecond  // from a change until it is reported, with those that follow
	patience      = 3                      // failures at the start until the others are reported without a service
	maxServices   = 10_000                 // services that are watched: as many as a provider may have
)

// watch is a query that is repeated.
type watch struct {
	name     string // of the service; "" for the names of services
	index    uint64 // of the last answer; 0 after a failure
	failures int    // in a row
	due      time.Time
	cancel   context.CancelFunc // of the query that is under way; nil if none is
	removed  bool
	answered bool
	patient  bool              // the query under way waits for longer than shortWait
	yields   bool              // the query under way was ended so that others get their turn
	target   *discovery.Target // nil if no instance is selected
	problem  error             // of instances that are left out
	err      error             // of the last query
}

// result is the answer to the query of a watch.
type result struct {
	w        *watch
	index    uint64
	services map[string][]string // name → tags, for the names of services
	target   *discovery.Target
	problem  error
	err      error
}

// watcher is one run of a provider. All but the queries is of the goroutine of run.
type watcher struct {
	p        *Provider
	update   func([]discovery.Target, error)
	results  chan result
	catalog  *watch
	services map[string]*watch
	queue    []*watch // those that no query is under way for, by the time at which they are due
	waiting  int      // queries under way
	refused  int      // services beyond the limit
	complete bool     // each service has been read at least once
	publish  *time.Timer
	pending  bool // publish is set
}

// run asks until ctx ends. All queries have ended when it returns, as far as spawn waits for them.
func (r *watcher) run(ctx context.Context, spawn func(func())) {
	next := time.NewTimer(0)
	defer next.Stop()
	defer r.publish.Stop()
	for {
		r.dispatch(ctx, spawn)
		if w := r.first(); w != nil {
			next.Reset(time.Until(w.due))
		}
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		case result := <-r.results:
			r.receive(&result)
		case <-r.publish.C:
			r.pending = false
			r.report()
		}
	}
}

// full reports whether a query for instances has to wait for its turn. One place is kept for the names of services.
func (r *watcher) full() bool {
	services := r.waiting
	if r.catalog.cancel != nil {
		services--
	}
	return services >= maxWaiting-1
}

// first returns the watch whose query is the next to be sent; nil if an answer must come before.
func (r *watcher) first() *watch {
	switch {
	case !r.full() && len(r.queue) > 0:
		return r.queue[0]
	case r.full() && r.catalog.cancel == nil:
		return r.catalog
	}
	return nil
}

// crowded reports whether there are more services than queries that may wait.
func (r *watcher) crowded() bool { return len(r.services) >= maxWaiting }

// dispatch sends the queries that are due. The names of services do not wait for their turn.
func (r *watcher) dispatch(ctx context.Context, spawn func(func())) {
	now := time.Now()
	wait := time.Duration(r.p.d.Wait)
	if r.crowded() {
		wait = min(wait, shortWait)
	}
	for w := r.first(); w != nil && !w.due.After(now); w = r.first() {
		r.remove(w)
		own, cancel := context.WithCancel(ctx)
		w.cancel, w.patient = cancel, wait > shortWait
		r.waiting++
		index, wait := w.index, wait
		if w == r.catalog {
			wait = time.Duration(r.p.d.Wait)
		}
		spawn(func() {
			defer cancel()
			answer := r.p.ask(own, w, index, wait)
			select {
			case r.results <- answer:
			case <-ctx.Done():
			}
		})
	}
}

// ask sends the query of a watch. Of the watch it reads only the name.
func (p *Provider) ask(ctx context.Context, w *watch, index uint64, wait time.Duration) (r result) {
	defer func() { // it runs in a goroutine of its own, where a panic would end the program
		if v := recover(); v != nil {
			r = result{w: w, err: fmt.Errorf("panic: %v\n%s", v, debug.Stack())}
		}
	}()
	r.w = w
	if w.name == "" {
		r.index, r.err = p.query(ctx, "/v1/catalog/services", index, wait, &r.services)
		if r.err == nil && r.services == nil {
			r.err = errors.New("the catalog is null")
		}
		return r
	}
	var entries []entry
	if r.index, r.err = p.query(ctx, "/v1/health/service/"+segment(w.name), index, wait, &entries); r.err == nil {
		r.target, r.problem = p.target(w.name, entries)
	}
	return r
}

// segment returns a name as a segment of a path.
func segment(name string) string {
	if name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

// enqueue plans the next query of a watch.
func (r *watcher) enqueue(w *watch, due time.Time) {
	w.due = due
	i, _ := slices.BinarySearchFunc(r.queue, due, func(w *watch, due time.Time) int {
		if w.due.After(due) {
			return 1
		}
		return -1 // behind those that are due at the same time
	})
	r.queue = slices.Insert(r.queue, i, w)
}

// remove takes a watch out of the queue.
func (r *watcher) remove(w *watch) {
	if i := slices.Index(r.queue, w); i >= 0 {
		r.queue = slices.Delete(r.queue, i, i+1)
	}
}

// receive takes over an answer.
func (r *watcher) receive(a *result) {
	w := a.w
	w.cancel = nil
	r.waiting--
	if w.removed {
		return
	}
	now := time.Now()
	yielded := w.yields
	w.yields = false
	switch {
	case a.err != nil && yielded:
		r.enqueue(w, now)
		return
	case a.err != nil:
		// After a failure the index starts anew: servers that were restored from an older state would let it wait.
		w.err, w.index, w.failures = a.err, 0, w.failures+1
		most := longestRetry
		if w == r.catalog {
			most = catalogRetry
		}
		r.enqueue(w, now.Add(backOff(w.failures, most)))
		r.changed()
		return
	}
	if a.index < w.index { // a server has another state than the one that the index was of: the leader is asked for the truth
		w.index = 0
		r.enqueue(w, now.Add(leastInterval))
		return
	}
	recovered := w.failures > 0
	w.err, w.failures = nil, 0
	w.index = a.index
	r.enqueue(w, now.Add(leastInterval))
	if w == r.catalog {
		r.reconcile(a.services, recovered)
		w.answered = true
		r.changed()
		return
	}
	if w.answered && !recovered && reflect.DeepEqual(w.target, a.target) && fmt.Sprint(w.problem) == fmt.Sprint(a.problem) {
		return // the index is another one, of another service or another node
	}
	w.answered, w.target, w.problem = true, a.target, a.problem
	r.changed()
}

// reconcile starts and ends watches so that each service that may be selected has one.
func (r *watcher) reconcile(services map[string][]string, recovered bool) {
	names := slices.Sorted(maps.Keys(services))
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "" || name == "consul" || slices.ContainsFunc(r.p.d.Tags, func(tag string) bool { return !slices.Contains(services[name], tag) })
	})
	r.refused = max(len(names)-maxServices, 0)
	names = names[:len(names)-r.refused]
	keep := make(map[string]bool, len(names))
	for _, name := range names {
		keep[name] = true
		if r.services[name] == nil {
			w := &watch{name: name}
			r.services[name] = w
			r.enqueue(w, time.Time{}) // before all others
		}
	}
	for name, w := range r.services {
		if !keep[name] {
			w.removed = true
			if w.cancel != nil {
				w.cancel()
			}
			delete(r.services, name)
		}
	}
	r.queue = slices.DeleteFunc(r.queue, func(w *watch) bool { return w.removed })
	r.hurry(recovered)
}

// hurry lets queries that wait too long come sooner: those that wait for a change while others await their turn, and, after the
// catalog has recovered, those that would wait for their next attempt.
func (r *watcher) hurry(recovered bool) {
	for _, w := range r.services {
		switch {
		case w.cancel != nil && r.crowded() && w.patient && !w.yields:
			w.yields = true
			w.cancel()
		case w.cancel == nil && recovered && w.failures > 0:
			r.remove(w)
			r.enqueue(w, time.Now())
		}
	}
}

// changed plans a report.
func (r *watcher) changed() {
	if !r.pending {
		r.pending = true
		r.publish.Reset(settle)
	}
}

// report reports the services once each of them has been read. Later, one that is new is reported when it has been read.
func (r *watcher) report() {
	if r.catalog.err != nil {
		r.update(nil, r.catalog.err)
		return
	}
	if !r.catalog.answered {
		return
	}
	var problems []error
	if r.refused > 0 {
		problems = append(problems, fmt.Errorf("the catalog has %d services more than %d; they are not watched, so tags should select fewer", r.refused, maxServices))
	}
	unread, failed := 0, 0
	targets := make([]discovery.Target, 0, len(r.services))
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		w := r.services[name]
		switch {
		case !w.answered && w.err == nil:
			unread++
		case !w.answered && w.failures < patience:
			failed++
		case w.target != nil:
			targets = append(targets, *w.target)
		}
		if err := errors.Join(w.err, w.problem); err != nil {
			problems = append(problems, err)
		}
	}
	switch {
	case !r.complete && unread > 0:
	case !r.complete && failed > 0:
		r.update(nil, join(problems))
	default:
		r.complete = true
		r.update(targets, join(problems))
	}
}
