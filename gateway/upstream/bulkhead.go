package upstream

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Room bounds how many calls are under way to one API at the same time, so that
// a service that hangs holds so many calls and no more (L3). The zero value sets
// no bounds.
type Room struct {
	// InFlight is the most calls at the same time, each from before its first
	// byte is sent until its answer's body is closed. 0: no limit.
	InFlight int
	// Queued is how many more may wait for one of these to end, in the order in
	// which they came. 0: none.
	Queued int
	// Wait is how long a call waits at most, out of its own time. 0: not at all.
	Wait time.Duration
}

// room is a [Room] in use. Nobody owns a goroutine here: who leaves hands its
// place to the one that has waited longest.
type room struct {
	limit Room

	mu    sync.Mutex
	taken int
	// The queue: a list, because who gives up leaves it from the middle.
	first, last *waiter
	waiting     int
}

// waiter is a call that waits.
type waiter struct {
	prev, next *waiter
	ready      chan struct{} // closed when the place is its own
}

func newRoom(limit Room) *room {
	if limit.InFlight <= 0 {
		return nil
	}
	return &room{limit: limit}
}

var (
	errNoRoom    = errors.New("as many calls are under way and wait as may be")
	errLongQueue = errors.New("no call ended while this one waited")
)

// enter takes a place, or waits for one. Its errors are errNoRoom, errLongQueue,
// and that of ctx. Who entered must leave.
func (r *room) enter(ctx context.Context) error {
	r.mu.Lock()
	if r.taken < r.limit.InFlight {
		r.taken++
		r.mu.Unlock()
		return nil
	}
	if r.waiting >= r.limit.Queued {
		r.mu.Unlock()
		return errNoRoom
	}
	w := &waiter{ready: make(chan struct{})}
	r.push(w)
	r.mu.Unlock()

	timer := time.NewTimer(r.limit.Wait)
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = errLongQueue
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.ready: // it became its own at this very moment
		if ctx.Err() == nil {
			return nil
		}
		r.pass()
	default:
		r.remove(w)
	}
	return err
}

// leave gives the place up.
func (r *room) leave() {
	r.mu.Lock()
	r.pass()
	r.mu.Unlock()
}

// pass hands a place to the first in the queue. mu is held.
func (r *room) pass() {
	w := r.first
	if w == nil {
		r.taken--
		return
	}
	r.remove(w)
	close(w.ready)
}

func (r *room) push(w *waiter) {
	if w.prev = r.last; w.prev != nil {
		w.prev.next = w
	} else {
		r.first = w
	}
	r.last = w
	r.waiting++
}

func (r *room) remove(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		r.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		r.last = w.prev
	}
	r.waiting--
}

// load returns how many calls have a place and how many wait.
func (r *room) load() (inFlight, queued int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken, r.waiting
}
