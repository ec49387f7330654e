package pacing

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// turns is how many documents are read at the same time, so that all together don't take much memory.
	turns = 2
	// slice is how long a document keeps its turn while others wait for one.
	slice = 50 * time.Millisecond
)

// queue hands out the turns: to the document that has had the least time, and among equals to the first that came.
type queue struct {
	mu      sync.Mutex
	taken   int
	waiting []*waiter
	waits   atomic.Int32  // len(waiting)
	given   time.Duration // when the last turn was given back, after begin; 0: none was
}

type waiter struct {
	had  time.Duration // in turns before
	next chan struct{} // is closed when it has a turn
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
	return nil // it was given a turn meanwhile
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
	ctx     context.Context // of the turn that was taken last
	held    atomic.Int32    // turns that it has
	taken   atomic.Int64    // when the last was taken, in ns after begin
	spent   atomic.Int64    // how long it had turns until now, in ns
	worked  *atomic.Int64   // the same, with those of other documents
	sharing chan struct{}   // has an element while it waits for the next turn in the middle of its work
	away    atomic.Bool     // it does
}

// Part returns a pace for one user with one turn at a time. Steps, rests and turns are those of p; the result of [Pace.Worked] is its own.
func (p *Pace) Part() *Pace {
	if p == nil {
		return nil
	}
	return &Pace{shared: p.shared, part: newPart()}
}

// Worked returns how long a part had turns until now, with the rests in them and without the turn that it may have at the moment.
func (p *Pace) Worked() time.Duration {
	if p == nil || p.part == nil {
		return 0
	}
	return time.Duration(p.worked.Load())
}

func newPart() *part { return &part{worked: new(atomic.Int64), sharing: make(chan struct{}, 1)} }

// had is how long it had turns until now.
func (p *part) had() time.Duration { return time.Duration(p.spent.Load()) }

// Take waits for one of two turns, which [Pace.Give] gives back. The error is that of ctx. A turn that lasts is given to others between two
// steps, and taken again when it is its turn.
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

// Give gives back a turn. It does nothing if it was lost between two steps.
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

// share gives the turn to the others that wait, if it lasted long enough, and waits for the next. Other goroutines that work in the same turn
// wait with it.
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

// Working reports whether somebody has a turn, or had one within the time.
func (p *Pace) Working(within time.Duration) bool {
	if p == nil || p.shared == nil {
		return false
	}
	q := &p.turns
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken > 0 || q.given > 0 && time.Since(p.begin)-q.given < within
}
