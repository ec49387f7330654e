package auth

import (
	"context"
	"sync"
)

// fetchGroup tracks the requests to the issuers of a guard: for keys, metadata and introspection.
// Each runs in the goroutine of its first caller, and continues when that caller leaves, because
// others may wait for it or need its result soon. After drain, a fetch continues only while a
// caller waits for it. A fetchGroup is safe for concurrent use.
type fetchGroup struct {
	mu       sync.Mutex
	all      map[*fetch]struct{}
	draining bool
	idle     chan struct{} // closed when all is empty; nil unless drain waits
}

// fetch is a request to an issuer.
type fetch struct {
	group   *fetchGroup
	ctx     context.Context // has the values of the first caller's context, and its cancellation only after drain
	cancel  context.CancelFunc
	waiting int // number of callers that wait; guarded by group.mu
	leave   func()
}

// start starts a fetch for the caller with ctx; finish must be called.
func (a *fetchGroup) start(ctx context.Context) *fetch {
	f := &fetch{group: a}
	a.mu.Lock()
	if a.draining { // no other caller will join
		f.ctx, f.cancel = context.WithCancel(ctx)
	} else {
		f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	if a.all == nil {
		a.all = make(map[*fetch]struct{})
	}
	a.all[f] = struct{}{}
	a.mu.Unlock()
	f.leave = f.addWaiter(ctx)
	return f
}

// addWaiter counts the caller with ctx as waiting, until ctx ends or leave is called.
func (f *fetch) addWaiter(ctx context.Context) (leave func()) {
	f.group.mu.Lock()
	f.waiting++
	f.group.mu.Unlock()
	stop := context.AfterFunc(ctx, f.removeWaiter)
	return func() {
		if stop() { // also if ctx has just ended and removeWaiter has not run
			f.removeWaiter()
		}
	}
}

func (f *fetch) removeWaiter() {
	f.group.mu.Lock()
	defer f.group.mu.Unlock()
	if f.waiting--; f.waiting == 0 && f.group.draining {
		f.cancel()
	}
}

// finish ends the fetch.
func (f *fetch) finish() {
	f.leave()
	f.cancel()
	a := f.group
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, f)
	if len(a.all) == 0 && a.idle != nil {
		close(a.idle)
		a.idle = nil
	}
}

// drain cancels the fetches that no caller waits for, and returns when all have ended.
func (a *fetchGroup) drain() {
	a.mu.Lock()
	a.draining = true
	var none chan struct{}
	if len(a.all) > 0 {
		none = make(chan struct{})
		a.idle = none
	}
	for f := range a.all {
		if f.waiting == 0 {
			f.cancel()
		}
	}
	a.mu.Unlock()
	if none != nil {
		<-none
	}
}
