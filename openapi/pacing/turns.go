package pacing

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// turns is the number of documents that are read concurrently, which limits their memory.
	turns = 2
	// slice is the time for which a document keeps its turn while others wait for one.
	slice = 50 * time.Millisecond
)

// queue hands out the turns: to the document with the least time so far, and among equals to the first that came.
type queue struct {
	mu      sync.Mutex
	taken   int
	waiting []*waiter
	waits   atomic.Int32  // len(waiting)
	given   time.Duration // when the last turn was given back, after begin; 0 if none was
}

type waiter struct {
	had  time.Duration // time in earlier turns
	next chan struct{} // closed when it gets a turn
}

// take waits for a turn.
func (q *queue) take(ctx context.Context, had time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	if q.taken < turns {
		q.taken++
		q.mu.Unlock()
		return nil
	}
	w := &waiter{had: had, next: make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.waits.Store(int32(len(q.waiting)))
	q.mu.Unlock()
	select {
	case <-w.next:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.remove(i)
		return ctx.Err()
	}
	return nil // it got a turn meanwhile
}

// give hands a turn on.
func (q *queue) give(now time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.given = now
	if len(q.waiting) == 0 {
		q.taken--
		return
	}
	least := 0
	for i, w := range q.waiting {
		if w.had < q.waiting[least].had {
			least = i
		}
	}
	w := q.waiting[least]
	q.remove(least)
	close(w.next)
}

func (q *queue) remove(i int) {
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.waits.Store(int32(len(q.waiting)))
}

// part is the share of a pace that belongs to one user with one turn at a time.
type part struct {
	ctx     context.Context // of the latest turn
	held    atomic.Int32    // number of its turns
	taken   atomic.Int64    // start of the latest turn, in ns after begin
	spent   atomic.Int64    // total duration of its turns, in ns
	worked  *atomic.Int64   // the same, including other documents
	sharing chan struct{}   // has an element while it waits for the next turn in the middle of its work
	away    atomic.Bool     // it is waiting for the next turn
}

// Part returns a pace for one user with one turn at a time. Steps, rests and turns are those of p; [Pace.Worked]
// measures only its own.
func (p *Pace) Part() *Pace {
	if p == nil {
		return nil
	}
	return &Pace{shared: p.shared, part: newPart()}
}

// Worked returns the total duration of a part's turns, including rests and excluding the current turn.
func (p *Pace) Worked() time.Duration {
	if p == nil || p.part == nil {
		return 0
	}
	return time.Duration(p.worked.Load())
}

func newPart() *part { return &part{worked: new(atomic.Int64), sharing: make(chan struct{}, 1)} }

// had returns the total duration of its turns so far.
func (p *part) had() time.Duration { return time.Duration(p.spent.Load()) }

// Take waits for one of two turns, which [Pace.Give] gives back. The error is that of ctx. Between two steps, a long
// turn may be passed to others and taken again later.
func (p *Pace) Take(ctx context.Context) error {
	if p == nil || p.shared == nil {
		return ctx.Err()
	}
	if err := p.turns.take(ctx, p.had()); err != nil {
		return err
	}
	p.ctx = ctx
	p.held.Add(1)
	p.taken.Store(int64(time.Since(p.begin)))
	return nil
}

// Give gives back a turn. It does nothing if the turn was lost between two steps.
func (p *Pace) Give() {
	if p == nil || p.shared == nil || p.held.Load() == 0 {
		return
	}
	p.held.Add(-1)
	now := time.Since(p.begin)
	p.worked.Add(int64(now) - p.taken.Load())
	p.spent.Add(int64(now) - p.taken.Load())
	p.turns.give(now)
}

// share passes the turn to waiting users if it has lasted long enough, and waits for the next. Other goroutines that
// work in the same turn wait with it.
func (p *Pace) share() {
	if p.turns.waits.Load() == 0 && !p.away.Load() || !p.away.Load() && time.Since(p.begin)-time.Duration(p.taken.Load()) < slice {
		return
	}
	p.sharing <- struct{}{}
	defer func() { <-p.sharing }()
	if p.held.Load() != 1 || p.turns.waits.Load() == 0 || time.Since(p.begin)-time.Duration(p.taken.Load()) < slice {
		return // another goroutine has done it
	}
	p.away.Store(true)
	defer p.away.Store(false)
	p.Give()
	if err := p.Take(p.ctx); err != nil {
		panic(&Ended{Err: err})
	}
}

// Working reports whether any user has a turn, or had one within the time.
func (p *Pace) Working(within time.Duration) bool {
	if p == nil || p.shared == nil {
		return false
	}
	q := &p.turns
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken > 0 || q.given > 0 && time.Since(p.begin)-q.given < within
}
