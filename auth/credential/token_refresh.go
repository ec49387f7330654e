package credential

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// token is an access token for a service. It is immutable.
type token struct {
	header      sealed[[]string] // the values of Authorization, shared by all requests
	requestedAt time.Time        // time of the token request
	refreshAt   time.Time        // time at which to refresh it
	expiry      time.Time
}

// valid reports whether a service should accept the token. A token from the future was requested
// before the clock was set back.
func (t *token) valid(now time.Time) bool { return now.Before(t.expiry) && !now.Before(t.requestedAt) }

// Times of a tokenSource.
const (
	// fetchTime is the timeout of a token request.
	fetchTime = 5 * time.Second
	// earlyFetchTime is the timeout while the current token is still valid.
	earlyFetchTime = 2 * time.Second
	// retryDelay is the time for which a failure is cached, unless the server sends Retry-After.
	retryDelay = time.Second
	// maxRetryDelay limits the server's Retry-After.
	maxRetryDelay = 30 * time.Second
	// renewAfter is the minimum age of a token that is replaced after a 401. A service that rejects
	// all tokens costs one token request in that time.
	renewAfter = 10 * time.Second
)

// tokenSource holds the token for one key and refreshes it. It makes one token request at a time
// (E7), in a goroutine of its own, so that the call that started it can end without the others that
// wait. The request ends by itself after [fetchTime]; the last waiter to leave cancels it and waits
// for its end.
//
// oauth2.ReuseTokenSource does not fit: it holds its lock during the request, so that no waiter can
// leave; it has one context for all; with an early expiry a failed refresh is an error although the
// old token is still valid; it can't be told that a token was rejected; and it repeats failed
// requests without delay.
type tokenSource struct {
	current atomic.Pointer[token]

	mu        sync.Mutex
	request   *tokenRequest // the request in flight, or nil
	failure   error         // of the last request; nil if it succeeded
	retryAt   time.Time     // failure is returned until then
	refreshAt time.Time     // a valid token is not refreshed until then
}

// tokenRequest is a token request in flight.
type tokenRequest struct {
	cancel  context.CancelFunc
	waiting int           // guarded by tokenSource.mu
	done    chan struct{} // closed when the fields below are set

	token    *token
	err      error
	panicked any
}

// fetcher requests a token within a time limit.
type fetcher interface {
	fetch(ctx context.Context, subject string, limit time.Duration) (*token, error)
}

// get returns a valid token other than rejected, a token that a service did not accept. fresh
// reports whether it was requested for this call. The error is that of the request, or that of ctx.
func (c *tokenSource) get(ctx context.Context, f fetcher, now func() time.Time, subject string, rejected *token) (t *token, fresh bool, err error) {
	for {
		at := now()
		t := c.current.Load()
		usable := t != nil && t != rejected && t.valid(at)
		if usable && at.Before(t.refreshAt) {
			return t, false, nil
		}
		c.mu.Lock()
		switch {
		case c.current.Load() != t: // replaced in the meantime
			c.mu.Unlock()
			continue
		case usable && (c.request != nil || c.backingOff(at) || at.Before(c.refreshAt)):
			c.mu.Unlock()
			return t, false, nil
		case c.request == nil && c.backingOff(at):
			err := c.failure
			c.mu.Unlock()
			return nil, false, err
		case c.request == nil:
			limit := fetchTime
			if usable {
				limit = earlyFetchTime
			}
			c.startRequest(ctx, f, now, subject, limit)
		}
		request := c.request
		request.waiting++
		c.mu.Unlock()
		if deadline, ok := ctx.Deadline(); usable && ok { // the call itself needs time, too
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
			defer cancel()
		}
		got, err := c.wait(ctx, request)
		if err != nil && usable {
			return t, false, nil
		}
		return got, true, err
	}
}

// startRequest starts a token request. Its context has the values of ctx, such as the trace, but
// not its cancellation. The caller holds c.mu.
func (c *tokenSource) startRequest(ctx context.Context, f fetcher, now func() time.Time, subject string, limit time.Duration) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	request := &tokenRequest{cancel: cancel, done: make(chan struct{}), err: errUnfinished}
	c.request = request
	go func() {
		defer func() {
			request.panicked = recover()
			cancel()
			c.mu.Lock()
			if c.request == request { // otherwise all waiters have left, and the outcome does not count
				c.request, c.failure, c.retryAt, c.refreshAt = nil, request.err, time.Time{}, time.Time{}
				if request.err == nil {
					c.current.Store(request.token)
				} else {
					at := now()
					c.retryAt = at.Add(failureTTL(request.err))
					if t := c.current.Load(); t != nil {
						// A fifth of the lifetime may be hours, and a server that hangs delays each
						// call that triggers a refresh by two seconds.
						c.refreshAt = at.Add(t.expiry.Sub(at) / 10)
					}
				}
			}
			c.mu.Unlock()
			close(request.done)
		}()
		request.token, request.err = f.fetch(ctx, subject, limit)
	}()
}

// errUnfinished is the error of a token request that panicked.
var errUnfinished = errors.New("credential: the token request did not come to an end")

// wait waits for a request until ctx ends. It propagates a panic to the caller, which recovers it.
func (c *tokenSource) wait(ctx context.Context, request *tokenRequest) (*token, error) {
	select {
	case <-request.done:
		if request.panicked != nil {
			panic(request.panicked)
		}
		return request.token, request.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	request.waiting--
	last := request.waiting == 0
	if last && c.request == request {
		c.request = nil
	}
	c.mu.Unlock()
	if last {
		request.cancel()
		<-request.done
	}
	return nil, ctx.Err()
}

// backingOff reports whether the last failure is still returned. The caller holds c.mu.
func (c *tokenSource) backingOff(now time.Time) bool {
	left := c.retryAt.Sub(now)
	return 0 < left && left <= maxRetryDelay // more is left only if the clock was set back
}

// renew returns a token other than the one that a service has rejected, or nil. It returns an error
// if the caller's own token is no longer valid.
func (c *tokenSource) renew(ctx context.Context, f fetcher, now func() time.Time, subject string, rejected *token) (*token, error) {
	if age := now().Sub(rejected.requestedAt); 0 <= age && age < renewAfter {
		return nil, nil //nolint:nilnil // no other token, which is not an error
	}
	t, _, err := c.get(ctx, f, now, subject, rejected)
	var known *TokenError
	switch {
	case errors.As(err, &known) && known.Failure == SubjectRefused:
		return nil, known
	case err != nil || t.header()[0] == rejected.header()[0]: // some servers return the same token until it expires
		return nil, nil //nolint:nilnil // no other token
	}
	return t, nil
}

// idle reports whether the source holds no valid token, request or failure.
func (c *tokenSource) idle(now time.Time) bool {
	if t := c.current.Load(); t != nil && t.valid(now) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.request == nil && !c.backingOff(now)
}
