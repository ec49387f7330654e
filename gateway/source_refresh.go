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

// Back-off of a document that can't be read: doubled from the first to the last.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// rarely is how many times as long as a document took to read and compile it is left alone, unless somebody asks or its files change: what
// comes anew each time would else be read all the time, and calls of others feel it.
const rarely = 50

// run loads the document, again and again: after refresh, after a change of its files, when asked, and with
// back-off after a failure. It ends with ctx.
func (s *source) run(ctx context.Context) {
	watch := fileWatch{source: s, changed: make(chan struct{}, 1)}
	defer watch.stop()
	defer func() {
		if ctx.Err() != nil { // else it panics, and what it has is served on
			s.g.admission.documents.Remove(s)
		}
	}()
	var stamp *fetch.Stamp // of the document in use; nil makes the first attempt read it whatever it is
	retry := firstRetry
	if !s.config.Spec.IsURL() {
		watch.start(ctx, []string{s.config.Spec.String()})
	}
	first := s.storeID != "" && !s.adopted
	for {
		select {
		case <-s.poke: // this is the look that was asked for: ask tells the turn first
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
				wait = time.Nanosecond // look again: a new file may have changed before it was watched
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
	watcher := config.NewWatcher(files) // first: should it panic, what was watched can still be ended
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

// stop returns when nothing is watched any more.
func (w *fileWatch) stop() {
	if w.cancel != nil {
		w.cancel()
	}
	w.running.Wait()
}

// ask makes the source look at its document now. Its next update of this turn is the answer.
func (s *source) ask(turn int64) {
	s.asked.Store(turn)
	signal(s.poke)
}

// signal leaves a sign in a channel of one place, if there is none yet.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
