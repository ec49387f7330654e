package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

// errCancelled is the cause of a context that notifications/cancelled has ended.
var errCancelled = errors.New("cancelled by the client")

// maxCancellable bounds the calls in flight that can be cancelled; those above it run all the same.
const maxCancellable = 1 << 16

// Calls are the legacy calls in flight on this replica: they outlive their requests, so notifications/cancelled, and the end of the
// process, have to find them. Several handlers may share one. The zero value is good. It is safe for concurrent use.
type Calls struct {
	mu       sync.Mutex
	active   map[callKey]*activeCall
	shutDown bool
}

// callKey names a call. Ids belong to the client that chose them, so the session
// is part of the name.
type callKey struct {
	session [16]byte
	id      string
}

type activeCall struct{ cancel context.CancelCauseFunc }

func newCallKey(s *session, id []byte) callKey {
	k := callKey{session: s.id}
	if jsonscan.KindOf(id) == jsonscan.String {
		// "\u0061" and "a" are one id; the quote keeps it apart from a number's digits.
		k.id = `"` + string(jsonscan.Unquote(id))
	} else {
		k.id = string(id)
	}
	return k
}

// add registers a call; the returned function takes it out again. A second call of
// the same name, which clients must not make, takes the first one's place.
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

// ErrEnding is the cause of a context that ends because the server does. A request whose context has it is answered with an
// error that says so: its client is still there.
var ErrShutdown = errors.New("the server ends")

// ending is what such a request is told.
func shutdownError() *Error {
	return RetryLater(http.StatusServiceUnavailable, time.Second,
		"the server ends, and with it the call before its answer came; it may have taken effect all the same: if it changes data, look before you repeat it")
}

// IsEnding tells whether a context has ended because the server does.
func IsShutdown(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrShutdown) }

// End cancels the calls with [ErrEnding], and those that begin from now on. Calls of modern clients end with the contexts of their
// requests.
func (c *Calls) Shutdown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shutDown = true
	for _, a := range c.active {
		a.cancel(ErrShutdown)
	}
}

// cancel ends a call, and tells whether it is one of this replica. A call that is
// unknown or over is not an error: the notification may have crossed the answer
// (2025-11-25 utilities/cancellation).
func (c *Calls) cancel(k callKey) bool {
	c.mu.Lock()
	a := c.active[k]
	c.mu.Unlock()
	if a != nil {
		a.cancel(errCancelled)
	}
	return a != nil
}
