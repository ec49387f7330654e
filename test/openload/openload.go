// Package openload makes calls at a fixed rate, for programs that measure what becomes of them. It hides the clock and the workers. The one
// rule: a call is due when it is due, whatever becomes of those before; what could not be made is counted, and not forgotten.
package openload

import (
	"context"
	"sync"
	"time"
)

// Load is calls that go on until it is stopped.
type Load struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup
	due    int // set when ended
}

// Start makes rate calls a second with so many workers, each of which makes one call at a time. call gets the number of its worker, that of the
// call, and when it was due, from where its time counts. Calls that no worker is free for wait, a second of them at most; then those after
// them are late as well.
func Start(ctx context.Context, rate, workers int, call func(worker, n int, due time.Time)) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := &Load{cancel: cancel}
	type order struct {
		n   int
		due time.Time
	}
	orders := make(chan order, rate)
	l.ended.Go(func() {
		defer close(orders)
		start := time.Now()
		defer func() { l.due = int(time.Since(start)*time.Duration(rate)/time.Second) + 1 }()
		for n := 0; ; n++ {
			due := start.Add(time.Duration(n) * time.Second / time.Duration(rate))
			if wait := time.Until(due); wait > 0 && !Pause(ctx, wait) {
				return
			}
			select {
			case orders <- order{n, due}:
			case <-ctx.Done():
				return
			}
		}
	})
	for worker := range workers {
		l.ended.Go(func() {
			for o := range orders {
				call(worker, o.n, o.due)
			}
		})
	}
	return l
}

// Cancel lets no further call become due, and returns at once. Those that wait or run go on: Stop waits for them.
func (l *Load) Cancel() { l.cancel() }

// Stop ends the load when the calls that wait or run have ended, and returns how many were due. It may be called again.
func (l *Load) Stop() (due int) {
	l.cancel()
	l.ended.Wait()
	return l.due
}

// Pause waits, and tells whether ctx has not ended.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
