package credential

import (
	"context"
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
// token request at a time (E7). It has no goroutine: the first who asks sends
// the request, in the time and under the cancellation of its own call, and
// when that ends early one of those who wait takes over.
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
}

// flight is a token request under way. Its fields are read after done.
type flight struct {
	done      chan struct{}
	token     *token
	err       error
	abandoned bool // the call that it was part of ended first
}

// fetcher gets a token; limit is the time that it has.
type fetcher interface {
	fetch(ctx context.Context, subject string, limit time.Duration) (*token, error)
}

// get returns a token that is good and is not refused, a token that a service
// did not take. fresh: it was fetched for this call.
func (c *cell) get(ctx context.Context, f fetcher, now func() time.Time, subject string, refused *token) (t *token, fresh bool, err error) {
	for {
		at := now()
		t := c.current.Load()
		usable := t != nil && t != refused && t.good(at)
		if usable && at.Before(t.refresh) {
			return t, false, nil
		}
		c.mu.Lock()
		switch fl := c.flight; {
		case c.current.Load() != t: // somebody was faster
			c.mu.Unlock()
		case usable && (fl != nil || c.cooling(at)):
			c.mu.Unlock()
			return t, false, nil
		case fl != nil:
			c.mu.Unlock()
			select {
			case <-fl.done:
			case <-ctx.Done():
				return nil, false, ctx.Err()
			}
			if !fl.abandoned {
				return fl.token, true, fl.err
			}
		case c.cooling(at):
			err := c.failure
			c.mu.Unlock()
			return nil, false, err
		default:
			fl = &flight{done: make(chan struct{}), abandoned: true}
			c.flight = fl
			c.mu.Unlock()
			limit := fetchTime
			if usable {
				limit = earlyFetchTime
				if deadline, ok := ctx.Deadline(); ok { // the call itself needs time, too
					limit = min(limit, time.Until(deadline)/2)
				}
			}
			c.fly(ctx, fl, f, now, subject, limit)
			if fl.err != nil && usable {
				return t, false, nil
			}
			return fl.token, true, fl.err
		}
	}
}

// fly sends the request of a flight and ends it, whatever happens.
func (c *cell) fly(ctx context.Context, fl *flight, f fetcher, now func() time.Time, subject string, limit time.Duration) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.flight = nil
		switch {
		case fl.abandoned:
		case fl.err != nil:
			c.failure, c.again = fl.err, now().Add(wait(fl.err))
		default:
			c.failure, c.again = nil, time.Time{}
			c.current.Store(fl.token)
		}
		close(fl.done)
	}()
	t, err := f.fetch(ctx, subject, limit)
	fl.token, fl.err, fl.abandoned = t, err, err != nil && ctx.Err() != nil
}

// cooling reports whether the last failure still is the answer. The caller holds c.mu.
func (c *cell) cooling(now time.Time) bool {
	left := c.again.Sub(now)
	return 0 < left && left <= maxCoolDown // more is left only if the clock went back
}

// renew returns a token other than one that a service has refused, or nil.
func (c *cell) renew(ctx context.Context, f fetcher, now func() time.Time, subject string, refused *token) *token {
	if age := now().Sub(refused.minted); 0 <= age && age < renewAfter {
		return nil
	}
	t, _, err := c.get(ctx, f, now, subject, refused)
	if err != nil || t.header()[0] == refused.header()[0] { // some servers give the same one until it expires
		return nil
	}
	return t
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
