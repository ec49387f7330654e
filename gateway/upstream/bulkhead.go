package upstream

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Bulkhead limits the concurrent calls to one API, so that a service that hangs occupies a limited
// number of calls (L3). The zero value sets no limit.
type Bulkhead struct {
	// InFlight is the maximum number of concurrent calls, each from before its first byte is sent
	// until its response body is closed. 0 means no limit.
	InFlight int
	// Queued is the maximum number of calls that wait in order of arrival; 0 means that none waits.
	Queued int
	// Wait is the maximum time that a call waits, within its deadline. 0 means that none waits.
	Wait time.Duration
}

// bulkhead implements [Bulkhead]. A call that ends hands its slot to the longest waiting one, so no
// goroutine is needed.
type bulkhead struct {
	limit Bulkhead

	mu    sync.Mutex
	inUse int
	// The queue is a linked list, because a waiter may leave from the middle.
	first, last *waiter
	waiting     int
}

// waiter is a waiting call.
type waiter struct {
	prev, next *waiter
	ready      chan struct{} // closed when it owns a slot
}

func newBulkhead(limit Bulkhead) *bulkhead {
	if limit.InFlight <= 0 {
		return nil
	}
	return &bulkhead{limit: limit}
}

var (
	errQueueFull    = errors.New("too many calls are in flight and waiting")
	errQueueTimeout = errors.New("no call ended while this one waited")
)

// acquire takes a slot, or waits for one. Its errors are errQueueFull, errQueueTimeout, and that of
// ctx. A successful acquire must be followed by release.
func (r *bulkhead) acquire(ctx context.Context) error {
	r.mu.Lock()
	if r.inUse < r.limit.InFlight {
		r.inUse++
		r.mu.Unlock()
		return nil
	}
	if r.waiting >= r.limit.Queued {
		r.mu.Unlock()
		return errQueueFull
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
		err = errQueueTimeout
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-w.ready: // the slot arrived at the same moment
		if ctx.Err() == nil {
			return nil
		}
		r.handOver()
	default:
		r.remove(w)
	}
	return err
}

// release returns the slot.
func (r *bulkhead) release() {
	r.mu.Lock()
	r.handOver()
	r.mu.Unlock()
}

// handOver gives a slot to the first waiter. The caller holds mu.
func (r *bulkhead) handOver() {
	w := r.first
	if w == nil {
		r.inUse--
		return
	}
	r.remove(w)
	close(w.ready)
}

func (r *bulkhead) push(w *waiter) {
	if w.prev = r.last; w.prev != nil {
		w.prev.next = w
	} else {
		r.first = w
	}
	r.last = w
	r.waiting++
}

func (r *bulkhead) remove(w *waiter) {
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

// load returns the number of calls in flight and of waiting calls.
func (r *bulkhead) load() (inFlight, queued int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inUse, r.waiting
}
