package source

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"drawbridge/config"
	"drawbridge/gateway/signal"
	"drawbridge/openapi/fetch"
)

// Back-off after a failed load: the delay doubles from firstRetry to lastRetry.
const (
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// idleFactor is the minimum interval between loads, as a multiple of the time for reading and compiling, unless a load
// is requested or the files change. Without it, a document that changes each time would be read continuously and slow
// down calls.
const idleFactor = 50

// start starts the goroutine of the source, unless it runs.
func (s *Source) start(ctx context.Context, group *errgroup.Group) {
	if s.cancel != nil {
		return
	}
	ctx, s.cancel = context.WithCancel(ctx)
	if s.adopted {
		s.countDocuments()
	}
	group.Go(func() error { s.deps.Keep(ctx, "a document was looked after", func() { s.run(ctx) }); return nil })
}

// stop ends the goroutine of the source and closes its connections.
func (s *Source) stop() {
	s.owner.leaving.Store(true)
	if s.cancel != nil { // it was started
		s.cancel()
	}
	s.clients.close()
	for _, c := range s.choices {
		c.clients.close()
	}
}

// run loads the document repeatedly: after the refresh interval, after a change of its files, on request, when the
// document of a discovered service's instances changes, and with back-off after a failure, which a new instance ends.
// It returns when ctx ends.
func (s *Source) run(ctx context.Context) {
	watch := fileWatch{deps: s.deps, label: s.owner.label, changed: make(chan struct{}, 1)}
	defer watch.stop()
	defer func() {
		if ctx.Err() != nil { // after a panic the loaded document is still served
			s.deps.Documents.Remove(s.owner)
		}
	}()
	a := attempts{retry: firstRetry, stored: s.StoreID != "" && !s.adopted}
	watch.start(ctx, watchedFiles(&s.Config, []string{s.Config.Spec.String()}))
	for {
		select {
		case <-s.wake: // this attempt answers the request: request stores the turn before it signals
		default:
		}
		moved, came := s.instanceSignals() // before the document is read
		u, wait := a.next(ctx, s, &watch)
		if ctx.Err() != nil {
			return
		}
		var timer <-chan time.Time
		if wait > 0 {
			u.NextTry = time.Now().Add(wait)
			timer = time.After(wait)
		}
		select {
		case s.deps.Updates <- u:
		case <-ctx.Done():
			return
		}
		if u.Err == nil {
			came = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-timer:
		case <-watch.changed:
		case <-s.wake:
		case <-moved:
		case <-came:
		}
	}
}

// instanceSignals returns the channels of [Instances.Moved] and [Instances.Came] of a discovered service; nil for
// another API.
func (s *Source) instanceSignals() (moved, came <-chan struct{}) {
	if !s.Config.IsDiscovered() {
		return nil, nil
	}
	instances := s.deps.Instances(s.Config.Service())
	return instances.Moved(), instances.Came()
}

// attempts is the state that an attempt to load a document takes over from earlier ones.
type attempts struct {
	stamp  *fetch.Stamp  // of the document in use; nil makes the next attempt read the document even if it is unchanged
	retry  time.Duration // back-off after the next failure
	stored bool          // the next attempt may use the stored document
}

// next tries to load the document of a source. It returns the outcome and the delay until the next attempt; 0 if only a
// request or a change of a file leads to one.
func (a *attempts) next(ctx context.Context, s *Source, watch *fileWatch) (u Update, wait time.Duration) {
	worked := s.loader.pace.Worked()
	u = Update{Source: s, turn: s.requested.Load()}
	if a.stored {
		u.Document, u.Copy, u.Stored, u.Err = s.firstLoad(ctx)
	} else {
		if s.rereadRequested.Swap(false) {
			a.stamp = nil
		}
		u.Document, u.Copy, u.Err = s.loader.load(ctx, a.stamp, s.StoreID != "")
	}
	if ctx.Err() != nil {
		return u, 0
	}
	a.stored = false
	switch {
	case u.Err == nil:
		a.stamp = &u.Document.Stamp
		a.retry, wait = firstRetry, refreshDelay(&s.Config)
		if watch.start(ctx, watchedFiles(&s.Config, u.Document.Stamp.Files)) {
			return u, time.Nanosecond // load again: a new file may have changed before it was watched
		}
	case errors.Is(u.Err, fetch.ErrUnchanged):
		u.Err = nil
		a.retry, wait = firstRetry, refreshDelay(&s.Config)
	default:
		if u.Stored != nil {
			a.stamp = &u.Stored.Stamp
		}
		wait = a.retry/2 + rand.N(a.retry/2+1)
		a.retry = min(2*a.retry, lastRetry)
	}
	if wait > time.Nanosecond {
		wait = max(wait, idleFactor*(s.loader.pace.Worked()-worked))
	}
	return u, wait
}

// refreshDelay returns the delay until a document that could be read is checked again; 0 if it never is. A jitter of ±5 %
// keeps replicas from checking at the same moment.
func refreshDelay(api *config.API) time.Duration {
	d := time.Duration(api.Refresh)
	if d == 0 || !isRemote(api) {
		return 0
	}
	return d - d/20 + rand.N(d/10+1)
}

// request makes the source load its document now. The next update with this turn is the answer.
func (s *Source) request(turn int64) {
	s.requested.Store(turn)
	signal.Raise(s.wake)
}

// LoadAgain makes the source load the document now, even if it is unchanged.
func (s *Source) LoadAgain() {
	s.rereadRequested.Store(true)
	signal.Raise(s.wake)
}

// Load loads the document once, for a source that is never started.
func (s *Source) Load(ctx context.Context) (*Document, error) {
	d, _, err := s.loader.load(ctx, nil, false)
	return d, err
}
