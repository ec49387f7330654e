package gateway

import (
	"context"
	"time"

	"drawbridge/gateway/clientip"

	"golang.org/x/sync/semaphore"
)

// sharer is who may hold a half of the room for large answers, and no more: a principal, without a token an address. Nobody in particular
// (the zero value) may hold all of it.
type sharer struct {
	principal string
	address   clientip.Key
}

func sharerOf(principal string, v *requestInfo) sharer {
	if principal == "" {
		return sharer{address: v.address}
	}
	return sharer{principal: principal}
}

// takePlace waits for n bytes of the room for large answers: first for those of the sharer's half, so that who has spent it holds up nobody else.
func (r *room) takePlace(ctx context.Context, of sharer, n int64) error {
	own := r.share(of)
	if own != nil {
		if err := own.Acquire(ctx, min(n, r.half())); err != nil {
			r.leaveShare(of)
			return err
		}
	}
	if err := r.answers.Acquire(ctx, n); err != nil {
		if own != nil {
			own.Release(min(n, r.half()))
			r.leaveShare(of)
		}
		return err
	}
	return nil
}

// shortWait is how long something large that is there already waits for its place.
const shortWait = time.Second

// hold takes a place for n bytes that are there already and go out by themselves. leave gives it back; false: there is none now, and they must not be
// kept. What is not large needs none.
func (r *room) hold(ctx context.Context, of sharer, n int64) (leave func(), ok bool) {
	if r.answers == nil || n <= largeAnswer {
		return func() {}, true
	}
	ctx, cancel := context.WithTimeout(ctx, shortWait)
	defer cancel()
	n = min(n, r.capacity)
	if r.takePlace(ctx, of, n) != nil {
		return nil, false
	}
	return func() { r.shrinkPlace(of, n, 0) }, true
}

// tryPlace makes n bytes of what a sharer holds, if they are there.
func (r *room) tryPlace(of sharer, held, n int64) bool {
	more := min(n, r.half()) - min(held, r.half())
	s := r.shareOf(of)
	if s != nil && !s.TryAcquire(more) {
		return false
	}
	if r.answers.TryAcquire(n - held) {
		return true
	}
	if s != nil {
		s.Release(more)
	}
	return false
}

// shrinkPlace makes n bytes of what a sharer holds; 0: nothing.
func (r *room) shrinkPlace(of sharer, held, n int64) {
	if s := r.shareOf(of); s != nil {
		s.Release(min(held, r.half()) - min(n, r.half()))
		if n == 0 {
			r.leaveShare(of)
		}
	}
	r.answers.Release(held - n)
}

func (r *room) half() int64 { return r.capacity / 2 }

// share is the half of one, as long as it is used.
type share struct {
	*semaphore.Weighted
	users int
}

// share returns the half of a sharer, which must leave it; nil: it has none.
func (r *room) share(of sharer) *share {
	if of == (sharer{}) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.shares[of]
	if s == nil {
		s = &share{Weighted: semaphore.NewWeighted(r.half())}
		r.shares[of] = s
	}
	s.users++
	return s
}

// shareOf returns the half that a sharer uses; nil: it has none.
func (r *room) shareOf(of sharer) *share {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shares[of]
}

func (r *room) leaveShare(of sharer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.shares[of]; s != nil {
		if s.users--; s.users == 0 {
			delete(r.shares, of)
		}
	}
}
