package call

import (
	"context"
	"errors"
	"io"
	"net/http"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// responseMemory reserves the memory of the large responses of one call. Only the call's goroutine uses it.
type responseMemory struct {
	budget      *admission.ResponseBudget
	call        *Call
	reservation *admission.Reservation // that of the request; nil until a response is large
	owned       bool                   // the reservation is the call's own
	body        budgetBody             // of the last response, if memory is limited
}

// reserve returns the memory reservation of the call's request. A request over HTTP holds it until its answer is
// written.
func (m *responseMemory) reserve() *admission.Reservation {
	if m.reservation != nil {
		return m.reservation
	}
	r := m.budget.NewReservation(m.call.Caller.Charged())
	if shared := m.call.Memory; shared != nil {
		r = shared.Join(r)
	} else {
		m.owned = true
	}
	m.reservation = r
	return r
}

// limit makes the call's next response reserve memory as soon as it turns out to be large. The previous response is no
// longer needed.
func (m *responseMemory) limit(ctx context.Context, resp *http.Response) {
	if !m.budget.Limited() {
		return
	}
	if b := &m.body; b.counted {
		if !b.closed {
			m.reservation.Finish(b.read)
		} else {
			m.reservation.Discard(b.read)
		}
	}
	m.body = budgetBody{ReadCloser: resp.Body, m: m, ctx: ctx}
	resp.Body = &m.body
}

// retain keeps the memory of the last response reserved while the call reads further ones, since the last one may be the
// result in the end. The returned function releases it.
func (m *responseMemory) retain() (release func()) {
	b := &m.body
	if !b.counted {
		return func() {}
	}
	if !b.closed {
		m.reservation.Finish(0)
	}
	n, r := b.read, m.reservation
	*b = budgetBody{}
	r.Retain(n)
	return func() { r.Release(n) }
}

// end releases the reservation if it is the call's own.
func (m *responseMemory) end() {
	if m.owned {
		m.reservation.End()
		m.reservation, m.owned, m.body.counted = nil, false, false
	}
}

// budgetBody is a response body that waits for memory as soon as it turns out to be large. Meanwhile the service waits
// too, and nothing is lost.
type budgetBody struct {
	io.ReadCloser
	ctx     context.Context //nolint:containedctx // of the request: Read waits, and has no parameter for it
	m       *responseMemory
	read    int64
	counted bool // whether read counts in the request's reservation
	closed  bool
}

// Read implements [io.Reader].
func (b *budgetBody) Read(p []byte) (int, error) {
	if beyond := admission.LargeResponse + 1 - b.read; !b.counted && beyond > 0 {
		p = p[:min(int64(len(p)), beyond)] // one read may return all that follows, and the end
	} else if !b.counted {
		if err := b.m.reserve().Begin(b.ctx, b.m.call.Plan.MaxResponse, b.read); err != nil {
			return 0, noBudget(err, b.m.call.Plan.ChangesNothing())
		}
		b.counted = true
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.counted && !b.m.reservation.Add(int64(n)) {
		effect := "The call may have taken effect: if it only reads data, make it by itself, or ask for less."
		if b.m.call.Plan.ChangesNothing() {
			effect = "The call changed nothing: make it by itself, or ask for less."
		}
		return 0, &Failure{telemetry.Outcome(upstream.TooLarge.String()), nil, "The answers to the calls of this request are too large together. " + effect}
	}
	return n, err
}

// Close implements [io.Closer].
func (b *budgetBody) Close() error {
	err := b.ReadCloser.Close()
	if b.counted && !b.closed {
		b.m.reservation.Finish(0)
	}
	b.closed = true
	return err
}

// noBudget returns the failure of a call whose response got no memory.
func noBudget(err error, safe bool) error {
	if errors.Is(err, context.Canceled) {
		e := &upstream.Error{Kind: upstream.Canceled, Err: err}
		return &Failure{telemetry.Outcome(e.Kind.String()), err, e.ToolMessageFor(safe)}
	}
	effect := "The call may have taken effect. If it only reads data, try again in a minute, or ask for less."
	if safe {
		effect = "The call changed nothing: try again in a minute, or ask for less."
	}
	return &Failure{telemetry.Outcome(upstream.Overloaded.String()), err, "The gateway has no room for an answer of this size now: others are on their way. " + effect}
}
