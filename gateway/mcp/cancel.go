package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

// errCancelled is the cause of a context that notifications/cancelled has cancelled.
var errCancelled = errors.New("cancelled by the client")

// maxCancellable limits the calls in flight that can be cancelled; calls above it run but can't be cancelled.
const maxCancellable = 1 << 16

// Calls tracks the legacy calls in flight on this replica. They outlive their HTTP requests, so notifications/cancelled
// and a shutdown need another way to cancel them. Several handlers may share one. The zero value is ready to use. It is
// safe for concurrent use.
type Calls struct {
	mu       sync.Mutex
	active   map[callKey]*activeCall
	shutDown bool
}

// callKey identifies a call. Clients choose the ids, so the session is part of the key.
type callKey struct {
	session [16]byte
	id      string
}

type activeCall struct{ cancel context.CancelCauseFunc }

func newCallKey(s *session, id []byte) callKey {
	k := callKey{session: s.id}
	if jsonscan.KindOf(id) == jsonscan.String {
		// "\u0061" and "a" are the same id; the quote distinguishes it from a number.
		k.id = `"` + string(jsonscan.Unquote(id))
	} else {
		k.id = string(id)
	}
	return k
}

// add registers a call and returns a function that removes it. A second call with the same key, which clients must not
// make, replaces the first.
func (c *Calls) add(k callKey, cancel context.CancelCauseFunc) (done func()) {
	a := &activeCall{cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shutDown {
		cancel(ErrShutdown)
		return func() {}
	}
	if _, again := c.active[k]; !again && len(c.active) >= maxCancellable {
		return func() {}
	}
	if c.active == nil {
		c.active = make(map[callKey]*activeCall)
	}
	c.active[k] = a
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.active[k] == a {
			delete(c.active, k)
		}
	}
}

// ErrShutdown is the cause of a context that the shutdown of the server has cancelled. Its request is answered with an
// error that says so, since the client is still connected.
var ErrShutdown = errors.New("the server ends")

// shutdownError returns the error for a request that the shutdown has interrupted.
func shutdownError() *Error {
	return RetryLater(http.StatusServiceUnavailable, time.Second,
		"the server ends, and with it the call before its answer came; it may have taken effect all the same: if it changes data, look before you repeat it")
}

// IsShutdown reports whether the shutdown of the server has ended a context.
func IsShutdown(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrShutdown) }

// Shutdown cancels all calls, and those that start later, with [ErrShutdown]. Calls of stateless clients end with the
// contexts of their requests.
func (c *Calls) Shutdown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shutDown = true
	for _, a := range c.active {
		a.cancel(ErrShutdown)
	}
}

// cancel cancels a call and reports whether it runs on this replica. An unknown or finished call is not an error: the
// notification may have crossed the response (2025-11-25 utilities/cancellation).
func (c *Calls) cancel(k callKey) bool {
	c.mu.Lock()
	a := c.active[k]
	c.mu.Unlock()
	if a != nil {
		a.cancel(errCancelled)
	}
	return a != nil
}
