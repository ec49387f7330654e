package mcp

import (
	"net/http"
	"sync"
	"time"
)

const (
	// maxCallerElicitations limits the waiting requests of one caller: a person answers one after the other.
	maxCallerElicitations = 32
	// maxCallerElicitationBytes limits their bodies and the responses received so far, in total for the caller.
	maxCallerElicitationBytes = 2 << 20
	// maxElicitationBytes is the same limit for all callers together.
	maxElicitationBytes = 32 << 20
	// elicitationRetryAfter is the Retry-After of requests above the limit.
	elicitationRetryAfter = 30 * time.Second
)

// ElicitationLimit limits the requests of legacy clients that wait for their users, and the memory they hold: each
// keeps its body and its connection for minutes, and no other limit counts it. Several handlers may share one. The zero
// value is ready to use. It is safe for concurrent use.
type ElicitationLimit struct {
	mu          sync.Mutex
	maxRequests int // of all callers; 0 means that only bytes are limited
	total       elicitationUsage
	callers     map[string]elicitationUsage
}

// elicitationUsage is what waiting requests hold.
type elicitationUsage struct {
	requests int
	bytes    int64
}

// SetMax changes the maximum number of waiting requests; 0 means that only their bytes are limited. Requests that wait
// already go on.
func (l *ElicitationLimit) SetMax(requests int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.maxRequests = requests
}

// ElicitationLimitError reports that a request can't wait for its user because of a limit. A method that returns it
// refuses the request.
type ElicitationLimitError struct {
	// PerCaller is true if the limit of the caller is reached, false if that of all callers is.
	PerCaller bool
	// TooLarge is true if the request alone exceeds the limit, so that retrying is useless.
	TooLarge bool
	reason   *Error
}

func (e *ElicitationLimitError) Error() string { return e.reason.Message }

// Unwrap returns the error that refuses the request.
func (e *ElicitationLimitError) Unwrap() error { return e.reason }

// elicitation is a request that waits for its user.
type elicitation struct {
	limit  *ElicitationLimit
	caller string // "" if callers are not told apart
	bytes  int64
}

// start counts a request that is about to wait, with the bytes it holds.
func (l *ElicitationLimit) start(caller string, bytes int64) (*elicitation, *ElicitationLimitError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.callers[caller]
	switch {
	case caller != "" && bytes > maxCallerElicitationBytes:
		return nil, &ElicitationLimitError{PerCaller: true, TooLarge: true, reason: httpError(http.StatusOK,
			"the request needs an answer of the user, and is too large to wait for it: at most %d bytes", maxCallerElicitationBytes)}
	case caller != "" && (of.requests >= maxCallerElicitations || of.bytes+bytes > maxCallerElicitationBytes):
		return nil, &ElicitationLimitError{PerCaller: true, reason: RetryLater(http.StatusTooManyRequests, elicitationRetryAfter,
			"too many requests of this caller wait for their user: at most %d, and %d bytes", maxCallerElicitations, maxCallerElicitationBytes)}
	case l.maxRequests > 0 && l.total.requests >= l.maxRequests || l.total.bytes+bytes > maxElicitationBytes:
		return nil, &ElicitationLimitError{reason: RetryLater(http.StatusServiceUnavailable, elicitationRetryAfter, "too many requests wait for their users")}
	}
	l.adjust(caller, 1, bytes)
	return &elicitation{limit: l, caller: caller, bytes: bytes}, nil
}

// adjust changes the counts. The caller holds the lock.
func (l *ElicitationLimit) adjust(caller string, requests int, bytes int64) {
	l.total = elicitationUsage{l.total.requests + requests, l.total.bytes + bytes}
	if caller == "" {
		return
	}
	of := elicitationUsage{l.callers[caller].requests + requests, l.callers[caller].bytes + bytes}
	if of.requests == 0 {
		delete(l.callers, caller)
		return
	}
	if l.callers == nil {
		l.callers = make(map[string]elicitationUsage)
	}
	l.callers[caller] = of
}

// reserve counts a response that is kept until all have arrived, and returns false if it exceeds a limit.
func (e *elicitation) reserve(bytes int64) bool {
	l := e.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.caller != "" && l.callers[e.caller].bytes+bytes > maxCallerElicitationBytes || l.total.bytes+bytes > maxElicitationBytes {
		return false
	}
	l.adjust(e.caller, 0, bytes)
	e.bytes += bytes
	return true
}

// finish ends the wait of the request.
func (e *elicitation) finish() {
	e.limit.mu.Lock()
	defer e.limit.mu.Unlock()
	e.limit.adjust(e.caller, -1, -e.bytes)
}

// startElicitation counts the request as one that waits for its user.
func (x *exchange) startElicitation() (*elicitation, *ElicitationLimitError) {
	caller := x.req.Principal
	if broker := x.h.o.Broker; broker != nil {
		caller = broker.subscriberOf(&x.req).LimitKey()
	}
	return x.h.o.ElicitationLimit.start(caller, x.event.RequestBytes+int64(x.elicitedBytes))
}
