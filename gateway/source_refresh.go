package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/openapi/fetch"
)

// Back-off after a failed load: the delay doubles from firstRetry to lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// rarely is the minimum interval between loads, as a multiple of the time that reading and compiling took, unless a
// load is requested or the files change. Without it a document that changes each time would be read continuously and
// slow down calls.
const rarely = 50

// run loads the document repeatedly: after the refresh interval, after a change of its files, on request, and with
// back-off after a failure. It returns when ctx ends.
func (s *source) run(ctx context.Context) {
	watch := fileWatch{source: s, changed: make(chan struct{}, 1)}
	defer watch.stop()
	defer func() {
		if ctx.Err() != nil { // after a panic the loaded document is still served
			s.g.admission.documents.Remove(s)
		}
	}()
	var stamp *fetch.Stamp // stamp of the document in use; nil makes the next attempt read the document even if it is unchanged
	retry := firstRetry
	if !s.config.Spec.IsURL() {
		watch.start(ctx, []string{s.config.Spec.String()})
	}
	first := s.storeID != "" && !s.adopted
	for {
		select {
		case <-s.poke: // this attempt answers the request: ask stores the turn before it signals
		default:
		}
		turn, worked := s.asked.Load(), s.pace.Worked()
		u := update{source: s, turn: turn}
		if first {
			u.loaded, u.copy, u.base, u.err = s.begin(ctx)
		} else {
			if s.anew.Swap(false) {
				stamp = nil
			}
			u.loaded, u.copy, u.err = s.load(ctx, stamp)
		}
		if ctx.Err() != nil {
			return
		}
		first = false
		l, err := u.loaded, u.err
		var wait time.Duration
		switch {
		case err == nil:
			stamp = &l.stamp
			retry, wait = firstRetry, s.refresh()
			if !s.config.Spec.IsURL() && watch.start(ctx, l.stamp.Files) {
				wait = time.Nanosecond // load again: a new file may have changed before it was watched
			}
		case errors.Is(err, fetch.ErrUnchanged):
			u.err = nil
			retry, wait = firstRetry, s.refresh()
		default:
			if u.base != nil {
				stamp = &u.base.stamp
			}
			wait = retry/2 + rand.N(retry/2+1)
			retry = min(2*retry, lastRetry)
		}
		var timer <-chan time.Time
		if wait > time.Nanosecond {
			wait = max(wait, rarely*(s.pace.Worked()-worked))
		}
		if wait > 0 {
			u.nextTry = time.Now().Add(wait)
			timer = time.After(wait)
		}
		select {
		case s.g.updates <- u:
		case <-ctx.Done():
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-timer:
		case <-watch.changed:
		case <-s.poke:
		}
	}
}

// refresh returns the delay until a document that could be read is checked again; 0 if it never is. A jitter of ±5 %
// keeps replicas from checking at the same moment.
func (s *source) refresh() time.Duration {
	d := time.Duration(s.config.Refresh)
	if d == 0 || !s.config.Spec.IsURL() {
		return 0
	}
	return d - d/20 + rand.N(d/10+1)
}

// fileWatch watches the files of one document, one set of files at a time.
type fileWatch struct {
	source  *source
	changed chan struct{}
	files   []string
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// start watches a set of files and reports whether it differs from the current one.
func (w *fileWatch) start(ctx context.Context, files []string) bool {
	if slices.Equal(files, w.files) {
		return false
	}
	watcher := config.NewWatcher(files) // first, so that the old watch can still be ended if this panics
	old := w.cancel
	w.files = files
	ctx, w.cancel = context.WithCancel(ctx)
	w.running.Go(func() {
		w.source.g.Keep(ctx, "a document was watched", func() {
			if err := watcher.Run(ctx, func(string) { signal(w.changed) }); err != nil {
				w.source.g.log.Warn("watching a document ended badly", "api", w.source.label, "error", err)
			}
		})
	})
	if old != nil {
		old()
	}
	return true
}

// stop ends the watch and waits for its goroutines.
func (w *fileWatch) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	w.running.Wait()
}

// ask makes the source load its document now. The next update with this turn is the answer.
func (s *source) ask(turn int64) {
	s.asked.Store(turn)
	signal(s.poke)
}

// signal sends to a channel with a capacity of 1 unless a signal is pending.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
