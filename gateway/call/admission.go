package call

import (
	"context"
	"errors"
	"net/http"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// Refusal is the reason of an error for the client that counts as the outcome of its call.
type Refusal struct {
	Outcome telemetry.Outcome
	Err     error // for the client
}

func (e *Refusal) Error() string { return string(e.Outcome) + ": " + e.Err.Error() }

// Unwrap returns the error for the client.
func (e *Refusal) Unwrap() error { return e.Err }

// refused counts an error by its [*Refusal], and returns the error for the client.
func (c *Call) refused(err error) error {
	var of *Refusal
	if !errors.As(err, &of) {
		return err
	}
	c.Tool.Metrics().Count(of.Outcome)
	c.record.setOutcome(of.Outcome)
	return of.Err
}

// admit asks all limits of the call. The error says when to retry.
func (c *Call) admit(ctx context.Context) error {
	if c.Policy.Admission == Background {
		c.ticket = c.r.Admission.Ticket(c.Endpoint.MaxCalls)
		return nil
	}
	if c.questions.goesOn() { // it was counted when it began
		if err := c.reject(c.r.Admission.Check(c.Endpoint.MaxCalls, c.MemoryChecked)); err != nil {
			return err
		}
		c.ticket = c.r.Admission.Ticket(c.Endpoint.MaxCalls)
	} else {
		ticket, rejected := c.r.Admission.Admit(ctx, c.admissionRequest())
		if err := c.reject(rejected); err != nil {
			return err
		}
		c.ticket = ticket
	}
	c.counted = true
	c.r.Metrics.InFlight.Inc()
	return nil
}

// Charge counts the first poll of a subscription against the rate limits of its tool and its API. The error says when to retry.
func (r *Runner) Charge(ctx context.Context, inv Invocation) (err error) {
	c := r.New(ctx, inv)
	c.args = inv.Arguments
	defer func() { c.close(err) }()
	return c.reject(r.Admission.Charge(ctx, c.admissionRequest()))
}

func (c *Call) admissionRequest() admission.Request {
	return admission.Request{MaxCalls: c.Endpoint.MaxCalls, MemoryChecked: c.MemoryChecked, Limits: c.Tool.Rates(), Caller: c.Caller.Principal, Address: c.Caller.Address}
}

// reject counts the call as rejected and returns its error; nil if it is not rejected.
func (c *Call) reject(rejected *admission.Rejection) error {
	if rejected == nil {
		return nil
	}
	c.r.Metrics.Refused[rejected.Reason].Inc()
	return c.refused(&Refusal{rejected.Outcome, rejected.Error})
}

// RejectWait counts a request that can't wait for its user because too many do already. The reason is "" if err is
// another error.
func (r *Runner) RejectWait(err error) (because telemetry.RefusalReason, status int) {
	var full *mcp.ElicitationLimitError
	if !errors.As(err, &full) || full.TooLarge {
		return "", 0
	}
	because, status = telemetry.RefusedWaits, http.StatusServiceUnavailable
	if full.PerCaller {
		because, status = telemetry.RefusedCallerWaits, http.StatusTooManyRequests
	}
	r.Metrics.Refused[because].Inc()
	return because, status
}
