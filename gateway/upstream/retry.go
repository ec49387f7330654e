package upstream

import (
	"context"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"drawbridge/openapi/httpmethod"
)

// Retries limits retries of failed requests (L5). The zero value disables them.
type Retries struct {
	// Max is the maximum number of retries per call.
	Max int
	// Budget limits retries of all calls, in per cent of the calls, so that retries do not keep a
	// service down. budgetStart more are available initially, since one in ten calls would allow
	// none for the first nine.
	Budget int
}

// RetryPolicy determines whether a request may reach its service twice.
type RetryPolicy uint8

const (
	// RetryByMethod retries if the method is idempotent (RFC 9110 section 9.2.2).
	RetryByMethod RetryPolicy = iota
	// RetryAlways retries: the operation is idempotent, or the request carries an idempotency key.
	RetryAlways
	// RetryNever retries only if it is certain that the service has not processed the request,
	// whatever the method.
	RetryNever
	// NoRetry never retries, for a caller with a retry loop of its own.
	NoRetry
)

// allows reports whether a request with a method may be retried.
func (r RetryPolicy) allows(method string) bool {
	switch r {
	case RetryAlways:
		return true
	case RetryNever, NoRetry:
		return false
	case RetryByMethod:
	}
	return Idempotent(method)
}

// Idempotent reports whether a method is idempotent; "" is GET, as in net/http.
func Idempotent(method string) bool { return method == "" || httpmethod.IsIdempotent(method) }

const (
	firstPause  = 100 * time.Millisecond // the maximum before the first retry; it doubles
	budgetStart = 10
	// Responses discarded for a retry are read to their end if that is near, so that the connection
	// is reused.
	maxDiscarded = 4 << 10
)

// retrier implements [Retries].
type retrier struct {
	max    int
	share  int64
	budget atomic.Int64 // hundredths of a retry
	counts [len(retryReasons)]atomic.Int64
	// jitter returns a random time between 0 and the given one.
	jitter func(time.Duration) time.Duration
}

func newRetrier(o Retries) *retrier {
	if o.Max <= 0 {
		return nil
	}
	r := &retrier{max: o.Max, share: int64(o.Budget), jitter: fullJitter}
	r.budget.Store(budgetStart * 100)
	return r
}

// fullJitter spreads the retries of calls that failed together over the whole interval.
func fullJitter(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d) + 1)) }

// earn adds the share of one call to the budget.
func (r *retrier) earn() {
	for {
		had := r.budget.Load()
		if had >= budgetStart*100 || r.budget.CompareAndSwap(had, min(had+r.share, budgetStart*100)) {
			return
		}
	}
}

// spend takes a retry from the budget, if there is one.
func (r *retrier) spend() bool {
	for {
		had := r.budget.Load()
		if had < 100 {
			return false
		}
		if r.budget.CompareAndSwap(had, had-100) {
			return true
		}
	}
}

// retryReason returns the reason to retry a request as a metric label, or "" if it should not be
// retried.
func retryReason(resp *http.Response, err *Error, repeatable bool) string {
	switch {
	case err == nil && !repeatable:
	case err == nil:
		switch resp.StatusCode {
		case http.StatusTooManyRequests:
			return "429"
		case http.StatusBadGateway:
			return "502"
		case http.StatusServiceUnavailable:
			return "503"
		case http.StatusGatewayTimeout:
			return "504"
		}
	case err.Kind == Connect:
		return "connect"
	case err.Kind == ProxyFailed:
		return "proxy"
	case err.Kind == Truncated && err.unprocessed:
		return "unprocessed"
	case err.Kind == Truncated && repeatable:
		return "truncated"
	}
	return ""
}

// retryReasons are the values of retryReason.
var retryReasons = [...]string{"429", "502", "503", "504", "connect", "proxy", "truncated", "unprocessed"}

// Retried yields the number of retries by reason, a closed set that can label a metric.
func (c *Client) Retried() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		if c.retries == nil {
			return
		}
		for i, reason := range retryReasons {
			if !yield(reason, c.retries.counts[i].Load()) {
				return
			}
		}
	}
}

// pause returns the delay before the n-th retry, or false if the deadline is too close: the time
// left after the delay must be at least as long as the last attempt took. Without a time to wait, a
// service that has no call left is not called again: that would only prolong the limit at some.
func (r *retrier) pause(n int, resp *http.Response, took, left time.Duration) (time.Duration, bool) {
	wait := r.jitter(firstPause << min(n-1, 10))
	if resp != nil {
		l := RateLimitOf(resp, time.Now())
		if l.Exhausted && !l.Known {
			return 0, false
		}
		wait += l.Wait // the jitter is kept: all clients were told the same time
	}
	return wait, wait+took < left
}

// attempts is the state of a call across its attempts.
type attempts struct {
	holdsSlot bool // the call holds a bulkhead slot
	requests  int  // that the service received or may have received
}

// count counts the requests of an attempt that ended with resp or err.
func (p *attempts) count(resp *http.Response, err *Error) {
	if err == nil || !err.neverSent() {
		p.requests++
	}
	if err == nil && isReauthenticated(resp.Request) || err != nil && err.reauthenticated {
		p.requests++
	}
}

// isReauthenticated reports whether the credential retried a request with a new token after a 401,
// which is then the request's Response.
func isReauthenticated(req *http.Request) bool { return req != nil && req.Response != nil }

// send sends a request that holds a bulkhead slot, and retries it according to the policy. It
// returns the outcome of the last attempt. A call that waits for a retry releases its slot and
// queues for another like all other calls.
func (c *Client) send(req *http.Request, chain http.RoundTripper, repeat RetryPolicy, at *attempts) (*http.Response, pendingOutcome, *Error) {
	var b *breaker
	if c.health != nil {
		b = c.health.forHost(req.URL.Host)
	}
	generation, refused := c.allow(b)
	if refused != nil {
		return nil, pendingOutcome{}, refused
	}
	req = markNoReplay(req, repeat)
	if c.retries == nil || repeat == NoRetry {
		resp, call, err := c.try(req, chain, pendingOutcome{b, generation})
		at.count(resp, err)
		return resp, call, err
	}
	c.retries.earn()
	ctx := req.Context()
	deadline, _ := ctx.Deadline() // set by do
	repeatable, seen, renewed := repeat.allows(req.Method), false, false
	for n, request := 1, req; ; n++ {
		start := time.Now()
		resp, call, err := c.try(request, chain, pendingOutcome{b, generation})
		at.count(resp, err)
		if err != nil {
			renewed = renewed || err.reauthenticated
			err.seen, err.reauthenticated = seen, renewed
		}
		why := retryReason(resp, err, repeatable)
		if why == "" || n > c.retries.max || req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
			return resp, call, err
		}
		wait, ok := c.retries.pause(n, resp, time.Since(start), time.Until(deadline))
		if !ok || !c.wouldAllow(b) || !c.retries.spend() {
			return resp, call, err
		}
		c.release()
		if at.holdsSlot = sleep(ctx, wait) && c.acquire(req) == nil; ctx.Err() != nil {
			if err != nil {
				err = c.headError(ctx, context.Cause(ctx))
			}
			return resp, call, err
		}
		if !at.holdsSlot {
			return resp, call, err // more informative than a full bulkhead
		}
		again, failed := newAttempt(req, n)
		if failed != nil {
			return resp, call, err
		}
		if generation, refused = c.allow(b); refused != nil {
			return resp, call, err // more informative than an open breaker
		}
		if resp != nil {
			discardResponse(resp)
		}
		seen = seen || err == nil || !err.NotSent()
		c.retries.counts[slices.Index(retryReasons[:], why)].Add(1)
		request = again
	}
}

// try sends a request once.
func (c *Client) try(req *http.Request, chain http.RoundTripper, call pendingOutcome) (*http.Response, pendingOutcome, *Error) {
	resp, err := chain.RoundTrip(req)
	if err != nil {
		e, ours := err.(*Error) //nolint:errorlint // as in headError: that of another client is not about this service
		if ours {
			call.report(outcomeOfError(e.Kind))
		} else {
			call.report(unknown) // an error of the credential or its authorization server
			e = c.headError(req.Context(), err)
		}
		return nil, pendingOutcome{}, e
	}
	if ctx := req.Context(); ctx.Err() != nil {
		// The response may be a reaction of the service to the canceled connection: a handler that
		// stops, for which a server says 200.
		resp.Body.Close()
		e := c.headError(ctx, context.Cause(ctx))
		e.reauthenticated = isReauthenticated(resp.Request)
		call.report(outcomeOfError(e.Kind))
		return nil, pendingOutcome{}, e
	}
	if err := checkHead(resp); err != nil {
		resp.Body.Close()
		call.report(unknown)
		return nil, pendingOutcome{}, &Error{Kind: Protocol, API: c.name, Err: err, reauthenticated: isReauthenticated(resp.Request)}
	}
	normalizeStatus(resp)
	if v, certain := outcomeOfResponse(resp, c.allErrors); certain {
		call.report(v)
	}
	return resp, call, nil
}

// allow asks the breaker, which may be nil, for one attempt.
func (c *Client) allow(b *breaker) (generation uint32, refused *Error) {
	if b == nil {
		return 0, nil
	}
	generation, wait, ok := b.allow()
	if !ok {
		return 0, &Error{Kind: BreakerOpen, API: c.name, Err: errOpen, RetryAfter: wait}
	}
	return generation, nil
}

// wouldAllow reports whether the breaker, which may be nil, would allow a call.
func (c *Client) wouldAllow(b *breaker) bool {
	if b == nil {
		return true
	}
	_, ok := b.check()
	return ok
}

// sleep waits, and returns false if ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// attemptKey is the context key of the number of a retry, for its span.
type attemptKey struct{}

// newAttempt returns a copy of a request for a retry. The transport may still read the first, so
// nothing of it is modified.
func newAttempt(req *http.Request, n int) (*http.Request, error) {
	again := req.WithContext(context.WithValue(req.Context(), attemptKey{}, n))
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	return again, nil
}

// discardResponse closes a response that is not used.
func discardResponse(resp *http.Response) {
	if 0 < resp.ContentLength && resp.ContentLength <= maxDiscarded {
		timer := time.AfterFunc(drainTime, func() { resp.Body.Close() })
		_, _ = io.CopyN(io.Discard, resp.Body, resp.ContentLength) // if it fails, the connection is closed
		timer.Stop()
	}
	resp.Body.Close()
}
