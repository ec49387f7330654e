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

// Retries say how often a request is sent again that came to nothing (L5). The
// zero value is never.
type Retries struct {
	// Max is how often the request of one call is sent again.
	Max int
	// Budget is how many requests are sent again in all, in per cent of the calls,
	// so that retries don't keep a service down. budgetStart more are had to begin
	// with, since one call out of ten would be none of the first nine.
	Budget int
}

// Repeat says whether a request may reach its service twice.
type Repeat uint8

const (
	// ByMethod repeats it if its method is idempotent (RFC 9110 section 9.2.2).
	ByMethod Repeat = iota
	// Always repeats it: the operation is idempotent, or the request carries a key by which
	// the service knows it again.
	Always
	// Never repeats it, whatever its method; unless it is certain that the service has not
	// seen the first.
	Never
	// Once never repeats it at all; who asks has a way of its own to ask again.
	Once
)

// may reports whether a request of a method may be repeated.
func (r Repeat) may(method string) bool {
	switch r {
	case Always:
		return true
	case Never, Once:
		return false
	case ByMethod:
	}
	return Idempotent(method)
}

// Idempotent reports whether it makes no difference how often a service gets a request of a method; "" is GET, as in net/http.
func Idempotent(method string) bool { return method == "" || httpmethod.IsIdempotent(method) }

const (
	firstPause  = 100 * time.Millisecond // the longest before the first retry; it doubles
	budgetStart = 10
	// Answers that are given up for a retry are read to their end if that is
	// near, so that their connection is used again.
	maxDiscarded = 4 << 10
)

// retrier is [Retries] in use.
type retrier struct {
	max    int
	share  int64
	budget atomic.Int64 // hundredths of a retry
	counts [len(retryReasons)]atomic.Int64
	// jitter returns a time between 0 and the given one.
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

// fullJitter spreads the retries of calls that failed together over all the
// time, which takes the load off best.
func fullJitter(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d) + 1)) }

// earn puts the share of one call into the budget.
func (r *retrier) earn() {
	for {
		had := r.budget.Load()
		if had >= budgetStart*100 || r.budget.CompareAndSwap(had, min(had+r.share, budgetStart*100)) {
			return
		}
	}
}

// spend takes a retry out of the budget, if there is one.
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

// reason tells why a request should be sent again, as a metric label; "": it
// should not.
func reason(resp *http.Response, err *Error, repeatable bool) string {
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
	case err.Kind == Truncated && err.unsent:
		return "unprocessed"
	case err.Kind == Truncated && repeatable:
		return "truncated"
	}
	return ""
}

// retryReasons are what reason returns.
var retryReasons = [...]string{"429", "502", "503", "504", "connect", "truncated", "unprocessed"}

// Retried yields how many requests were sent again for each reason, from a closed
// set that can label a metric.
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

// pause returns how long to wait before the n-th retry; false: there is no time
// for it. What is left after the wait must be as long as the last attempt took.
func (r *retrier) pause(n int, resp *http.Response, took, left time.Duration) (time.Duration, bool) {
	wait := r.jitter(firstPause << min(n-1, 10))
	if resp != nil {
		if asked, ok := RetryAfter(resp.Header, time.Now()); ok {
			wait += max(asked, 0) // the jitter stays: all were told the same time
		}
	}
	return wait, wait+took < left
}

// passage is where a call stands while it is sent.
type passage struct {
	inside   bool // it has a place in the room
	requests int  // that the service got, or may have got
}

// count counts what was sent in an attempt that ended with resp or err.
func (p *passage) count(resp *http.Response, err *Error) {
	if err == nil || !err.neverSent() {
		p.requests++
	}
	if err == nil && isRenewed(resp.Request) || err != nil && err.renewed {
		p.requests++
	}
}

// isRenewed reports whether the credential has made a request again, with a new
// token, after an answer of 401: that answer is with the request then.
func isRenewed(req *http.Request) bool { return req != nil && req.Response != nil }

// send sends a request within a place of the room, and again as far as the
// policy goes. What it returns is the outcome of the last attempt. A call that
// waits to be sent again has no place meanwhile, and gets one like all others
// do, by the queue.
func (c *Client) send(req *http.Request, over http.RoundTripper, repeat Repeat, at *passage) (*http.Response, judged, *Error) {
	var b *breaker
	if c.health != nil {
		b = c.health.of(req.URL.Host)
	}
	turn, refused := c.allow(b)
	if refused != nil {
		return nil, judged{}, refused
	}
	req = exact(req, repeat)
	if c.retries == nil || repeat == Once {
		resp, call, err := c.try(req, over, judged{b, turn})
		at.count(resp, err)
		return resp, call, err
	}
	c.retries.earn()
	ctx := req.Context()
	deadline, _ := ctx.Deadline() // do has given it one
	repeatable, seen, renewed := repeat.may(req.Method), false, false
	for n, request := 1, req; ; n++ {
		start := time.Now()
		resp, call, err := c.try(request, over, judged{b, turn})
		at.count(resp, err)
		if err != nil {
			renewed = renewed || err.renewed
			err.seen, err.renewed = seen, renewed
		}
		why := reason(resp, err, repeatable)
		if why == "" || n > c.retries.max || req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
			return resp, call, err
		}
		wait, ok := c.retries.pause(n, resp, time.Since(start), time.Until(deadline))
		if !ok || !c.mayTry(b) || !c.retries.spend() {
			return resp, call, err
		}
		c.leave()
		if at.inside = sleep(ctx, wait) && c.enter(req) == nil; ctx.Err() != nil {
			if err != nil {
				err = c.headError(ctx, context.Cause(ctx))
			}
			return resp, call, err
		}
		if !at.inside {
			return resp, call, err // which says more than that there is no room
		}
		again, failed := repeated(req, n)
		if failed != nil {
			return resp, call, err
		}
		if turn, refused = c.allow(b); refused != nil {
			return resp, call, err // which says more than that the breaker is open
		}
		if resp != nil {
			giveUp(resp)
		}
		seen = seen || err == nil || !err.NotSent()
		c.retries.counts[slices.Index(retryReasons[:], why)].Add(1)
		request = again
	}
}

// try sends a request once.
func (c *Client) try(req *http.Request, over http.RoundTripper, call judged) (*http.Response, judged, *Error) {
	resp, err := over.RoundTrip(req)
	if err != nil {
		e, ours := err.(*Error) //nolint:errorlint // as in headError: that of another client is not about this service
		if ours {
			call.end(verdictOf(e.Kind))
		} else {
			call.end(silent) // the credential, or the server that gives it
			e = c.headError(req.Context(), err)
		}
		return nil, judged{}, e
	}
	if ctx := req.Context(); ctx.Err() != nil {
		// What comes then may be what the service made of the end of its connection: a handler that stops, in whose place a server says 200.
		resp.Body.Close()
		e := c.headError(ctx, context.Cause(ctx))
		e.renewed = isRenewed(resp.Request)
		call.end(verdictOf(e.Kind))
		return nil, judged{}, e
	}
	if err := checkHead(resp); err != nil {
		resp.Body.Close()
		call.end(silent)
		return nil, judged{}, &Error{Kind: Protocol, API: c.name, Err: err, renewed: isRenewed(resp.Request)}
	}
	readStatus(resp)
	if v, certain := verdictOn(resp, c.allErrors); certain {
		call.end(v)
	}
	return resp, call, nil
}

// allow asks the breaker, which may be nil, for one attempt.
func (c *Client) allow(b *breaker) (turn uint32, refused *Error) {
	if b == nil {
		return 0, nil
	}
	turn, wait, ok := b.allow()
	if !ok {
		return 0, &Error{Kind: BreakerOpen, API: c.name, Err: errOpen, RetryAfter: wait}
	}
	return turn, nil
}

// mayTry tells whether the breaker, which may be nil, would let a call through.
func (c *Client) mayTry(b *breaker) bool {
	if b == nil {
		return true
	}
	_, ok := b.ask()
	return ok
}

// sleep waits; false: ctx ended before.
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

// attemptKey is the key of a context under which the number of a retry stands,
// for its span.
type attemptKey struct{}

// repeated returns a request as it was before it was sent. The first may still
// be read by the transport, so nothing of it is written to.
func repeated(req *http.Request, n int) (*http.Request, error) {
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

// giveUp ends an answer that nobody reads.
func giveUp(resp *http.Response) {
	if 0 < resp.ContentLength && resp.ContentLength <= maxDiscarded {
		timer := time.AfterFunc(drainTime, func() { resp.Body.Close() })
		_, _ = io.CopyN(io.Discard, resp.Body, resp.ContentLength) // if it fails, the connection is given up
		timer.Stop()
	}
	resp.Body.Close()
}
