package auth

import (
	"context"
	"sync"
)

// fetches are what the issuers of a guard are being asked: for keys, for metadata, about tokens. Each runs in the goroutine of the first who needed
// it. It goes on when that one leaves, since others may wait, and those who come next need it too; but when the guard has ended, only as long
// as somebody waits: then nobody comes next. It is safe for concurrent use.
type fetches struct {
	mu    sync.Mutex
	all   map[*fetch]struct{}
	ended bool
	none  chan struct{} // closed by the last of all that ends; nil: nobody waits for that
}

// fetch is one of them.
type fetch struct {
	of      *fetches
	ctx     context.Context // of what is asked; it has the values of the first one's
	cancel  context.CancelFunc
	waiting int // who needs it; guarded by of.mu
	leave   func()
}

// begin begins one for who has ctx; end must be called.
func (a *fetches) begin(ctx context.Context) *fetch {
	f := &fetch{of: a}
	a.mu.Lock()
	if a.ended { // nobody waits for it any more but who has begun it
		f.ctx, f.cancel = context.WithCancel(ctx)
	} else {
		f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	}
	if a.all == nil {
		a.all = make(map[*fetch]struct{})
	}
	a.all[f] = struct{}{}
	a.mu.Unlock()
	f.leave = f.join(ctx)
	return f
}

// join tells that who has ctx waits too, until ctx ends or leave is called.
func (f *fetch) join(ctx context.Context) (leave func()) {
	f.of.mu.Lock()
	f.waiting++
	f.of.mu.Unlock()
	stop := context.AfterFunc(ctx, f.left)
	return func() {
		if stop() { // also when ctx has just ended, and nobody was told yet
			f.left()
		}
	}
}

func (f *fetch) left() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.waiting--; f.waiting == 0 && f.of.ended {
		f.cancel()
	}
}

// end tells that it has come to an end.
func (f *fetch) end() {
	f.leave()
	f.cancel()
	a := f.of
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, f)
	if len(a.all) == 0 && a.none != nil {
		close(a.none)
		a.none = nil
	}
}

// drain ends those that nobody needs, and returns when all have ended.
func (a *fetches) drain() {
	a.mu.Lock()
	a.ended = true
	var none chan struct{}
	if len(a.all) > 0 {
		none = make(chan struct{})
		a.none = none
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
