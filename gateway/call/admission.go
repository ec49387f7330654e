package call

import (
	"context"
	"errors"
	"net/http"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// admit asks all limits of the call. The error says when to retry.
func (c *Call) admit(ctx context.Context) error {
	ticket, rejected := c.r.Admission.Admit(ctx, c.admissionRequest(ctx))
	c.ticket = ticket
	return c.reject(rejected)
}

// chargeRates counts the call against the rate limits of its tool and its API. The error says when to retry.
func (c *Call) chargeRates(ctx context.Context) error {
	return c.reject(c.r.Admission.Charge(ctx, c.admissionRequest(ctx)))
}

func (c *Call) admissionRequest(ctx context.Context) admission.Request {
	info := InfoFrom(ctx)
	return admission.Request{MaxCalls: c.Endpoint.MaxCalls, MemoryChecked: info.MemoryChecked, Limits: c.Plan.Rates, Caller: c.Caller, Address: info.Address}
}

// reject counts the call as rejected and returns its error; nil if it is not rejected.
func (c *Call) reject(rejected *admission.Rejection) error {
	if rejected == nil {
		return nil
	}
	c.r.Metrics.Refused[rejected.Reason].Inc()
	c.countRejected(rejected.Outcome)
	return rejected.Error
}

// countRejected counts the call as rejected for a reason that is temporary.
func (c *Call) countRejected(because telemetry.Outcome) {
	c.Plan.Metrics.Count(because)
	c.record.setOutcome(because)
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
