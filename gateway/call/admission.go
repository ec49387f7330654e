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
func (x *exchange) chargeRates(ctx context.Context) error {
	return x.reject(x.r.Admission.Charge(ctx, x.admissionRequest(ctx)))
}

func (x *exchange) admissionRequest(ctx context.Context) admission.Request {
	info := InfoFrom(ctx)
	return admission.Request{MaxCalls: x.Endpoint.MaxCalls, MemoryChecked: info.MemoryChecked, Limits: x.Plan.Rates, Caller: x.Caller, Address: info.Address}
}

// reject counts the call as rejected and returns its error; nil if it is not rejected.
func (x *exchange) reject(rejected *admission.Rejection) error {
	if rejected == nil {
		return nil
	}
	x.r.Metrics.Refused[rejected.Reason].Inc()
	x.countRejected(rejected.Outcome)
	return rejected.Error
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
