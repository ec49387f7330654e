package credential

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// token is an access token for a service. Its fields are not written to.
type token struct {
	header  sealed[[]string] // the values of Authorization, shared by all requests
	minted  time.Time        // when it was asked for
	refresh time.Time        // when it is time for the next one
	expiry  time.Time
}

// good reports whether a service can be expected to take the token. One that is
// of the future was made before the clock went back.
func (t *token) good(now time.Time) bool { return now.Before(t.expiry) && !now.Before(t.minted) }

// Times of a cell.
const (
	// fetchTime is how long a token request may take.
	fetchTime = 5 * time.Second
	// earlyFetchTime is the same while there still is a good token.
	earlyFetchTime = 2 * time.Second
	// coolDown is how long a failure is the answer to all who ask, if the server does not say it.
	coolDown = time.Second
	// maxCoolDown is the longest time that the server can say.
	maxCoolDown = 30 * time.Second
	// renewAfter is how old a token must be for a 401 to be blamed on it. A
	// service that refuses all tokens costs one token request in that time.
	renewAfter = 10 * time.Second
)

// cell holds the token for one key. However many ask for it, there is one
// token request at a time (E7). It runs in a goroutine, so that the call that
// happens to come first can end without those that wait; it ends by itself in
// [fetchTime], and who leaves last ends it and waits until it has.
//
// Why not oauth2.ReuseTokenSource: it holds its lock during the request, so
// that no waiter can leave; it has one context for all; with an early expiry a
// failed refresh is an error although the old token is still good; it can't be
// told that a token was refused; and it repeats failures as fast as they are asked for.
type cell struct {
	current atomic.Pointer[token]

	mu      sync.Mutex
	flight  *flight   // nil: no request is under way
	failure error     // of the last request; nil: it went well
	again   time.Time // before that, failure is the answer
	retry   time.Time // before that, a token that is still good serves
}

// flight is a token request under way.
type flight struct {
	cancel  context.CancelFunc
	waiting int           // guarded by the cell's mu
	done    chan struct{} // what follows is read after it

	token    *token
	err      error
	panicked any
}

// fetcher gets a token; limit is the time that it has.
type fetcher interface {
	fetch(ctx context.Context, subject string, limit time.Duration) (*token, error)
}

// get returns a token that is good and is not refused, a token that a service
// did not take. fresh: it was fetched for this call. The error is that of the
// request, or that of ctx.
func (c *cell) get(ctx context.Context, f fetcher, now func() time.Time, subject string, refused *token) (t *token, fresh bool, err error) {
	for {
		at := now()
		t := c.current.Load()
		usable := t != nil && t != refused && t.good(at)
		if usable && at.Before(t.refresh) {
			return t, false, nil
		}
		c.mu.Lock()
		switch {
		case c.current.Load() != t: // somebody was faster
			c.mu.Unlock()
			continue
		case usable && (c.flight != nil || c.cooling(at) || at.Before(c.retry)):
			c.mu.Unlock()
			return t, false, nil
		case c.flight == nil && c.cooling(at):
			err := c.failure
			c.mu.Unlock()
			return nil, false, err
		case c.flight == nil:
			limit := fetchTime
			if usable {
				limit = earlyFetchTime
			}
			c.launch(ctx, f, now, subject, limit)
		}
		fl := c.flight
		fl.waiting++
		c.mu.Unlock()
		if deadline, ok := ctx.Deadline(); usable && ok { // the call itself needs time, too
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
			defer cancel()
		}
		got, err := c.wait(ctx, fl)
		if err != nil && usable {
			return t, false, nil
		}
		return got, true, err
	}
}

// launch starts a token request. It has what ctx knows, such as the trace that
// it is part of, but does not end with it. The caller holds c.mu.
func (c *cell) launch(ctx context.Context, f fetcher, now func() time.Time, subject string, limit time.Duration) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	fl := &flight{cancel: cancel, done: make(chan struct{}), err: errEnded}
	c.flight = fl
	go func() {
		defer func() {
			fl.panicked = recover()
			cancel()
			c.mu.Lock()
			if c.flight == fl { // else all have left, and how it ended says nothing
				c.flight, c.failure, c.again, c.retry = nil, fl.err, time.Time{}, time.Time{}
				if fl.err == nil {
					c.current.Store(fl.token)
				} else {
					at := now()
					c.again = at.Add(patience(fl.err))
					if t := c.current.Load(); t != nil {
						// A fifth of a life may be hours, and a server that hangs costs the call that asks it two seconds each time.
						c.retry = at.Add(t.expiry.Sub(at) / 10)
					}
				}
			}
			c.mu.Unlock()
			close(fl.done)
		}()
		fl.token, fl.err = f.fetch(ctx, subject, limit)
	}()
}

// errEnded is the error of a token request that panicked.
var errEnded = errors.New("credential: the token request did not come to an end")

// wait returns what comes of a flight, or leaves it when ctx ends. A panic goes
// on here, where there is somebody to catch it.
func (c *cell) wait(ctx context.Context, fl *flight) (*token, error) {
	select {
	case <-fl.done:
		if fl.panicked != nil {
			panic(fl.panicked)
		}
		return fl.token, fl.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	fl.waiting--
	last := fl.waiting == 0
	if last && c.flight == fl {
		c.flight = nil
	}
	c.mu.Unlock()
	if last {
		fl.cancel()
		<-fl.done
	}
	return nil, ctx.Err()
}

// cooling reports whether the last failure still is the answer. The caller holds c.mu.
func (c *cell) cooling(now time.Time) bool {
	left := c.again.Sub(now)
	return 0 < left && left <= maxCoolDown // more is left only if the clock went back
}

// renew returns a token other than one that a service has refused, or nil. The
// error tells that the caller's own token is no good any more.
func (c *cell) renew(ctx context.Context, f fetcher, now func() time.Time, subject string, refused *token) (*token, error) {
	if age := now().Sub(refused.minted); 0 <= age && age < renewAfter {
		return nil, nil //nolint:nilnil // there is none, and that is no fault
	}
	t, _, err := c.get(ctx, f, now, subject, refused)
	var known *TokenError
	switch {
	case errors.As(err, &known) && known.Failure == SubjectRefused:
		return nil, known
	case err != nil || t.header()[0] == refused.header()[0]: // some servers give the same one until it expires
		return nil, nil //nolint:nilnil // the same
	}
	return t, nil
}

// idle reports whether the cell holds nothing that could be of use.
func (c *cell) idle(now time.Time) bool {
	if t := c.current.Load(); t != nil && t.good(now) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flight == nil && !c.cooling(now)
}
