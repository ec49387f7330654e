package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// callerOf returns the caller to whom the memory of a request's large responses is charged: the principal, or the
// address if there is none.
func callerOf(principal string, v *requestInfo) admission.Caller {
	if principal == "" {
		return admission.Caller{Address: v.address}
	}
	return admission.Caller{Principal: principal}
}

// reserved returns the memory reservation of the call's request. A request over HTTP holds it until its answer is
// written.
func (c *call) reserved() *admission.Reservation {
	if c.reservation != nil {
		return c.reservation
	}
	v := requestInfoFrom(c.ctx)
	r := c.g.admission.responses.NewReservation(callerOf(c.req.Principal, v))
	if v.dispatched {
		if !v.reservation.CompareAndSwap(nil, r) {
			r = v.reservation.Load()
		}
	} else {
		c.ownsReservation = true
	}
	c.reservation = r
	return r
}

// limitBody makes a response reserve memory as soon as it turns out to be large.
func (c *call) limitBody(resp *http.Response) {
	if c.g.admission.responses.Limited() {
		resp.Body = c.large.next(c, resp.Body)
	}
}

// endReservation releases the reservation if it is the call's own.
func (c *call) endReservation() {
	if c.ownsReservation {
		c.reservation.End()
		c.reservation, c.ownsReservation, c.large.counted = nil, false, false
	}
}

// budgetBody is a response body that waits for memory as soon as it turns out to be large. Meanwhile the service waits
// too, and nothing is lost.
type budgetBody struct {
	io.ReadCloser
	c       *call
	read    int64
	counted bool // whether read counts in the request's reservation
	closed  bool
}

// Read implements [io.Reader].
func (b *budgetBody) Read(p []byte) (int, error) {
	if beyond := admission.LargeResponse + 1 - b.read; !b.counted && beyond > 0 {
		p = p[:min(int64(len(p)), beyond)] // one read may return all that follows, and the end
	} else if !b.counted {
		if err := b.c.reserved().Begin(b.c.ctx, b.c.plan.maxAnswer, b.read); err != nil {
			return 0, noBudget(err)
		}
		b.counted = true
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.counted && !b.c.reservation.Add(int64(n)) {
		return 0, &failure{telemetry.Outcome(upstream.TooLarge.String()), nil, "The answers to the calls of this request are too large together. The call may have taken effect: " +
			"if it only reads data, make it by itself, or ask for less."}
	}
	return n, err
}

// Close implements [io.Closer].
func (b *budgetBody) Close() error {
	err := b.ReadCloser.Close()
	if b.counted && !b.closed {
		b.c.reservation.Finish(0)
	}
	b.closed = true
	return err
}

// retainResponse keeps the memory of the call's last response reserved while the call reads further ones, since the
// last one may be the result in the end. The returned function releases it.
func (c *call) retainResponse() (release func()) {
	b := &c.large
	if !b.counted {
		return func() {}
	}
	if !b.closed {
		c.reservation.Finish(0)
	}
	n, r := b.read, c.reservation
	*b = budgetBody{}
	r.Retain(n)
	return func() { r.Release(n) }
}

// next makes b the body of the call's next response. The previous one is no longer needed.
func (b *budgetBody) next(c *call, body io.ReadCloser) io.ReadCloser {
	if b.counted {
		if !b.closed {
			c.reservation.Finish(b.read)
		} else {
			c.reservation.Discard(b.read)
		}
	}
	*b = budgetBody{ReadCloser: body, c: c}
	return b
}

// noBudget returns the failure of a call whose response got no memory.
func noBudget(err error) error {
	if errors.Is(err, context.Canceled) {
		e := &upstream.Error{Kind: upstream.Canceled, Err: err}
		return &failure{telemetry.Outcome(e.Kind.String()), err, e.ToolMessage()}
	}
	return &failure{telemetry.Outcome(upstream.Overloaded.String()), err, "The gateway has no room for an answer of this size now: others are on their way. The call may have taken " +
		"effect. If it only reads data, try again in a minute, or ask for less."}
}
