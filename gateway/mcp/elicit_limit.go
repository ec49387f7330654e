package mcp

import (
	"net/http"
	"sync"
	"time"
)

const (
	// maxWaits is how many requests of one caller may wait for their user at once: a person answers one after the other.
	maxWaits = 32
	// maxWaitBytes is what they may hold together: their bodies, and what was answered so far.
	maxWaitBytes = 2 << 20
	// maxWaitBytesInAll is the same for those of all callers.
	maxWaitBytesInAll = 32 << 20
	// waitLater is when a place may be free again.
	waitLater = 30 * time.Second
)

// Waits bounds the requests of legacy clients that wait for what their user answers, and what they hold meanwhile: each keeps its
// body and its connection, for minutes, and no other limit counts it. Several handlers may share one. The zero value is good. It is
// safe for concurrent use.
type Waits struct {
	mu      sync.Mutex
	max     int // in all; 0: no bound but that of bytes
	inAll   held
	callers map[string]held
}

// held is what some requests hold that wait.
type held struct {
	requests int
	bytes    int64
}

// Bound changes how many may wait in all; 0: as many as their bytes allow. Those that wait already go on.
func (w *Waits) Bound(requests int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.max = requests
}

// Waiting returns how many wait.
func (w *Waits) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.inAll.requests
}

// FullError tells that a request can't wait for its user, since it would hold too much. A method that returns it refuses the request.
type FullError struct {
	// OfCaller tells that the caller has too much that waits; else all together have.
	OfCaller bool
	// Alone tells that the request by itself is too large, whatever else waits: coming again is of no use.
	Alone  bool
	reason *Error
}

func (e *FullError) Error() string { return e.reason.Message }

// Unwrap returns the error to refuse the request with.
func (e *FullError) Unwrap() error { return e.reason }

// wait is a request that waits.
type wait struct {
	of     *Waits
	caller string // "": nobody that is counted
	bytes  int64
}

// begin counts a request that is about to wait and holds so much, or tells why it may not.
func (w *Waits) begin(caller string, bytes int64) (*wait, *FullError) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.callers[caller]
	switch {
	case caller != "" && bytes > maxWaitBytes:
		return nil, &FullError{OfCaller: true, Alone: true, reason: refusal(http.StatusOK,
			"the request needs an answer of the user, and is too large to wait for it: at most %d bytes", maxWaitBytes)}
	case caller != "" && (of.requests >= maxWaits || of.bytes+bytes > maxWaitBytes):
		return nil, &FullError{OfCaller: true, reason: Later(http.StatusTooManyRequests, waitLater,
			"too many requests of this caller wait for their user: at most %d, and %d bytes", maxWaits, maxWaitBytes)}
	case w.max > 0 && w.inAll.requests >= w.max || w.inAll.bytes+bytes > maxWaitBytesInAll:
		return nil, &FullError{reason: Later(http.StatusServiceUnavailable, waitLater, "too many requests wait for their users")}
	}
	w.change(caller, 1, bytes)
	return &wait{of: w, caller: caller, bytes: bytes}, nil
}

// change counts what came or went. The caller holds the lock.
func (w *Waits) change(caller string, requests int, bytes int64) {
	w.inAll = held{w.inAll.requests + requests, w.inAll.bytes + bytes}
	if caller == "" {
		return
	}
	of := held{w.callers[caller].requests + requests, w.callers[caller].bytes + bytes}
	if of.requests == 0 {
		delete(w.callers, caller)
		return
	}
	if w.callers == nil {
		w.callers = make(map[string]held)
	}
	w.callers[caller] = of
}

// keep counts an answer that the request keeps until it has all of them; false: there is no room for it.
func (x *wait) keep(bytes int64) bool {
	w := x.of
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.caller != "" && w.callers[x.caller].bytes+bytes > maxWaitBytes || w.inAll.bytes+bytes > maxWaitBytesInAll {
		return false
	}
	w.change(x.caller, 0, bytes)
	x.bytes += bytes
	return true
}

// end tells that the request waits no more.
func (x *wait) end() {
	x.of.mu.Lock()
	defer x.of.mu.Unlock()
	x.of.change(x.caller, -1, -x.bytes)
}

// wait counts the request as one that waits for its user.
func (x *exchange) wait() (*wait, *FullError) {
	caller := x.req.Principal
	if hub := x.h.o.Hub; hub != nil {
		caller = hub.viewer(&x.req).Caller()
	}
	return x.h.o.Waits.begin(caller, x.event.RequestBytes+int64(x.heard))
}
