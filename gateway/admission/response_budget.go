package admission

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// LargeResponse is the size in bytes above which a response needs a reservation.
const LargeResponse = 256 << 10

// Errors of [Reservation.Begin], besides those of its context.
var (
	ErrReservationEnded = errors.New("the request has its answer")
	ErrBudgetExhausted  = errors.New("no room for one more large answer to the same request")
)

// ResponseBudget is the memory that all large responses together may hold. It is safe for concurrent use.
type ResponseBudget struct {
	capacity int64
	memory   *semaphore.Weighted // nil if the budget is unlimited
	mu       sync.Mutex
	shares   map[Caller]*share
}

// NewResponseBudget returns a budget of capacity bytes. It is unlimited if capacity is 0.
func NewResponseBudget(capacity int64) *ResponseBudget {
	b := &ResponseBudget{capacity: capacity}
	if capacity > 0 {
		b.memory, b.shares = semaphore.NewWeighted(capacity), make(map[Caller]*share)
	}
	return b
}

// Limited reports whether large responses need reservations.
func (b *ResponseBudget) Limited() bool { return b.memory != nil }

// Capacity returns the size of the budget in bytes, or 0 if it is unlimited.
func (b *ResponseBudget) Capacity() int64 { return b.capacity }

// holdTimeout bounds how long [ResponseBudget.Hold] waits. It is short since the bytes are in memory already.
const holdTimeout = time.Second

// Hold reserves n bytes that are in memory already and belong to no request. The caller must release them, and must drop the bytes
// if ok is false. Anything that isn't large needs no memory of the budget.
func (b *ResponseBudget) Hold(ctx context.Context, of Caller, n int64) (release func(), ok bool) {
	if !b.Limited() || n <= LargeResponse {
		return func() {}, true
	}
	ctx, cancel := context.WithTimeout(ctx, holdTimeout)
	defer cancel()
	n = min(n, b.capacity)
	if b.acquire(ctx, of, n) != nil {
		return nil, false
	}
	return func() { b.shrink(of, n, 0) }, true
}

// NewReservation returns an empty reservation for a request of the caller. The budget must be limited.
func (b *ResponseBudget) NewReservation(of Caller) *Reservation {
	return &Reservation{budget: b, caller: of}
}

// Reservation is the memory, in bytes, that the large responses to one request hold: also those to a batch, or to a prompt. It begins
// with the maximum size of one response, becomes what is in memory when all are read, and is released when the client has its answer.
// Together the responses may be no larger than one alone, so that a request never waits for itself. It is safe for concurrent use.
type Reservation struct {
	budget *ResponseBudget
	caller Caller

	mu       sync.Mutex
	held     int64
	used     int64 // by all large responses
	retained int64 // part of used: by responses that stay while their calls read others
	maxUsed  int64
	reading  int // number of responses that are being read
	ended    bool
}

// Begin reserves memory for a response of at most n bytes, of which read bytes are there. It waits only if the request holds nothing yet.
func (r *Reservation) Begin(ctx context.Context, n, read int64) error {
	r.mu.Lock() // others that wait here have about the same deadline as the one that holds the lock
	defer r.mu.Unlock()
	if r.ended {
		return ErrReservationEnded
	}
	need := min(r.retained+n, r.budget.capacity)
	switch {
	case r.held >= need:
	case r.held == 0:
		if err := r.budget.acquire(ctx, r.caller, need); err != nil {
			return err
		}
		r.held = need
	default: // waiting while something is held would end in a deadlock
		if !r.budget.tryGrow(r.caller, r.held, need) {
			return ErrBudgetExhausted
		}
		r.held = need
	}
	r.maxUsed = max(r.maxUsed, r.retained+n)
	r.used += read
	r.reading++
	return nil
}

// Add counts n more bytes of a response that has begun. It returns false if the responses are too large together.
func (r *Reservation) Add(n int64) (fits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used += n
	return r.used <= r.maxUsed
}

// Finish notes that a response is read, and that discarded bytes of it aren't needed any more. The reservation shrinks to what is in
// memory: the responses, and a second copy of them that goes out.
func (r *Reservation) Finish(discarded int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading--
	r.used -= discarded
	r.shrinkLocked()
}

// shrinkLocked releases memory that the responses don't use.
func (r *Reservation) shrinkLocked() {
	if r.ended || r.reading > 0 {
		return
	}
	if less := max(2*r.used, 1); less < r.held {
		r.budget.shrink(r.caller, r.held, less)
		r.held = less
	}
}

// Discard notes that n bytes of a finished response aren't needed any more. Another response follows, so nothing is released.
func (r *Reservation) Discard(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
}

// Retain notes that n bytes of a finished response stay while others are read.
func (r *Reservation) Retain(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retained += n
}

// Release undoes [Reservation.Retain]: the n bytes aren't needed any more.
func (r *Reservation) Release(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retained -= n
	r.used -= n
	r.shrinkLocked()
}

// End releases everything.
func (r *Reservation) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended = true; r.held > 0 {
		r.budget.shrink(r.caller, r.held, 0)
		r.held = 0
	}
}
