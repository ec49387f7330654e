package admission

import (
	"context"

	"golang.org/x/sync/semaphore"

	"drawbridge/gateway/clientip"
)

// Caller identifies the holder of memory: a principal, or an address without a token. One caller may hold at most half of a
// [ResponseBudget]; the zero Caller may hold all of it.
type Caller struct {
	Principal string
	Address   clientip.Key
}

// share is the half of the budget that one caller may use. It exists while it is in use.
type share struct {
	*semaphore.Weighted
	users int
}

// acquire waits for n bytes, first in the caller's share, so that a caller that has used up its share delays no other.
func (b *ResponseBudget) acquire(ctx context.Context, of Caller, n int64) error {
	own := b.joinShare(of)
	if own != nil {
		if err := own.Acquire(ctx, min(n, b.half())); err != nil {
			b.leaveShare(of)
			return err
		}
	}
	if err := b.memory.Acquire(ctx, n); err != nil {
		if own != nil {
			own.Release(min(n, b.half()))
			b.leaveShare(of)
		}
		return err
	}
	return nil
}

// tryGrow raises what a caller holds from held to n bytes if they are free.
func (b *ResponseBudget) tryGrow(of Caller, held, n int64) bool {
	more := min(n, b.half()) - min(held, b.half())
	s := b.shareOf(of)
	if s != nil && !s.TryAcquire(more) {
		return false
	}
	if b.memory.TryAcquire(n - held) {
		return true
	}
	if s != nil {
		s.Release(more)
	}
	return false
}

// shrink lowers what a caller holds from held to n bytes. Zero ends the use of the caller's share.
func (b *ResponseBudget) shrink(of Caller, held, n int64) {
	if s := b.shareOf(of); s != nil {
		s.Release(min(held, b.half()) - min(n, b.half()))
		if n == 0 {
			b.leaveShare(of)
		}
	}
	b.memory.Release(held - n)
}

func (b *ResponseBudget) half() int64 { return b.capacity / 2 }

// joinShare returns the caller's share, or nil for the zero Caller. Each successful join needs a leaveShare.
func (b *ResponseBudget) joinShare(of Caller) *share {
	if of == (Caller{}) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.shares[of]
	if s == nil {
		s = &share{Weighted: semaphore.NewWeighted(b.half())}
		b.shares[of] = s
	}
	s.users++
	return s
}

// shareOf returns the share that a caller uses, or nil.
func (b *ResponseBudget) shareOf(of Caller) *share {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shares[of]
}

func (b *ResponseBudget) leaveShare(of Caller) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.shares[of]; s != nil {
		if s.users--; s.users == 0 {
			delete(b.shares, of)
		}
	}
}
