package mcp

import (
	"net/http"
	"sync"
	"time"
)

const (
	// maxWaits is how many requests of one caller may wait for their user at once: a person answers one after the other.
	maxCallerElicitations = 32
	// maxWaitBytes is what they may hold together: their bodies, and what was answered so far.
	maxCallerElicitationBytes = 2 << 20
	// maxWaitBytesInAll is the same for those of all callers.
	maxElicitationBytes = 32 << 20
	// waitLater is when a place may be free again.
	elicitationRetryAfter = 30 * time.Second
)

// Waits bounds the requests of legacy clients that wait for what their user answers, and what they hold meanwhile: each keeps its
// body and its connection, for minutes, and no other limit counts it. Several handlers may share one. The zero value is good. It is
// safe for concurrent use.
type ElicitationLimit struct {
	mu          sync.Mutex
	maxRequests int // in all; 0: no bound but that of bytes
	total       elicitationUsage
	callers     map[string]elicitationUsage
}

// held is what some requests hold that wait.
type elicitationUsage struct {
	requests int
	bytes    int64
}

// Bound changes how many may wait in all; 0: as many as their bytes allow. Those that wait already go on.
func (w *ElicitationLimit) SetMax(requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.maxRequests = requests
}

// Waiting returns how many wait.
func (w *ElicitationLimit) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.total.requests
}

// FullError tells that a request can't wait for its user, since it would hold too much. A method that returns it refuses the request.
type ElicitationLimitError struct {
	// OfCaller tells that the caller has too much that waits; else all together have.
	PerCaller bool
	// Alone tells that the request by itself is too large, whatever else waits: coming again is of no use.
	TooLarge bool
	reason   *Error
}

func (e *ElicitationLimitError) Error() string { return e.reason.Message }

// Unwrap returns the error to refuse the request with.
func (e *ElicitationLimitError) Unwrap() error { return e.reason }

// wait is a request that waits.
type elicitation struct {
	limit  *ElicitationLimit
	caller string // "": nobody that is counted
	bytes  int64
}

// begin counts a request that is about to wait and holds so much, or tells why it may not.
func (w *ElicitationLimit) start(caller string, bytes int64) (*elicitation, *ElicitationLimitError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.callers[caller]
	switch {
	case caller != "" && bytes > maxCallerElicitationBytes:
		return nil, &ElicitationLimitError{PerCaller: true, TooLarge: true, reason: httpError(http.StatusOK,
			"the request needs an answer of the user, and is too large to wait for it: at most %d bytes", maxCallerElicitationBytes)}
	case caller != "" && (of.requests >= maxCallerElicitations || of.bytes+bytes > maxCallerElicitationBytes):
		return nil, &ElicitationLimitError{PerCaller: true, reason: RetryLater(http.StatusTooManyRequests, elicitationRetryAfter,
			"too many requests of this caller wait for their user: at most %d, and %d bytes", maxCallerElicitations, maxCallerElicitationBytes)}
	case w.maxRequests > 0 && w.total.requests >= w.maxRequests || w.total.bytes+bytes > maxElicitationBytes:
		return nil, &ElicitationLimitError{reason: RetryLater(http.StatusServiceUnavailable, elicitationRetryAfter, "too many requests wait for their users")}
	}
	w.adjust(caller, 1, bytes)
	return &elicitation{limit: w, caller: caller, bytes: bytes}, nil
}

// change counts what came or went. The caller holds the lock.
func (w *ElicitationLimit) adjust(caller string, requests int, bytes int64) {
	w.total = elicitationUsage{w.total.requests + requests, w.total.bytes + bytes}
	if caller == "" {
		return
	}
	of := elicitationUsage{w.callers[caller].requests + requests, w.callers[caller].bytes + bytes}
	if of.requests == 0 {
		delete(w.callers, caller)
		return
	}
	if w.callers == nil {
		w.callers = make(map[string]elicitationUsage)
	}
	w.callers[caller] = of
}

// keep counts an answer that the request keeps until it has all of them; false: there is no room for it.
func (e *elicitation) reserve(bytes int64) bool {
	w := e.limit
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.caller != "" && w.callers[e.caller].bytes+bytes > maxCallerElicitationBytes || w.total.bytes+bytes > maxElicitationBytes {
		return false
	}
	w.adjust(e.caller, 0, bytes)
	e.bytes += bytes
	return true
}

// end tells that the request waits no more.
func (e *elicitation) finish() {
	e.limit.mu.Lock()
	defer e.limit.mu.Unlock()
	e.limit.adjust(e.caller, -1, -e.bytes)
}

// wait counts the request as one that waits for its user.
func (x *exchange) startElicitation() (*elicitation, *ElicitationLimitError) {
	caller := x.req.Principal
	if broker := x.h.o.Broker; broker != nil {
		caller = broker.subscriberOf(&x.req).LimitKey()
	}
	return x.h.o.ElicitationLimit.start(caller, x.event.RequestBytes+int64(x.elicitedBytes))
}
