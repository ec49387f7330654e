package call

import (
	"context"

	"drawbridge/auth"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// chargeRates counts a call of a caller against the rate limits of its tool and its API. It returns the error of a call
// that exceeds one, which says when to retry, and the outcome.
func (r *Runner) chargeRates(ctx context.Context, limits []*admission.Rate, caller *auth.Principal) (*mcp.Error, telemetry.Outcome) {
	switch len(limits) {
	case 0:
		return nil, ""
	case 1: // allocates nothing
		d, _ := r.Rates.Take(ctx, rateKey(ctx, limits[0], caller), limits[0].Limit(), 1)
		return r.checkRate(limits[0], d)
	}
	takes := make([]state.Take, len(limits))
	for i, limit := range limits {
		takes[i] = state.Take{Key: rateKey(ctx, limit, caller), Limit: limit.Limit(), N: 1}
	}
	decisions, _ := r.Rates.TakeAll(ctx, takes)
	for i, d := range decisions {
		if e, because := r.checkRate(limits[i], d); e != nil {
			return e, because
		}
	}
	return nil, ""
}

// checkRate returns the error of a call that a rate limit does not allow, and the outcome.
func (r *Runner) checkRate(limit *admission.Rate, d state.Decision) (*mcp.Error, telemetry.Outcome) {
	if d.Allowed {
		return nil, ""
	}
	e, _ := r.rejectByRate(limit, d)
	if d.Uncounted {
		return e, telemetry.OutcomeUncounted
	}
	return e, telemetry.OutcomeLimited
}

// rejectByRate counts a request that exceeds a rate limit, and returns its error and the reason.
func (r *Runner) rejectByRate(limit *admission.Rate, d state.Decision) (*mcp.Error, telemetry.RefusalReason) {
	e, because := limit.Refuse(d)
	r.Metrics.Refused[because].Inc()
	return e, because
}

// rateKey returns the counter key of a rate limit for a call of a caller, or from the address of its request without one.
func rateKey(ctx context.Context, limit *admission.Rate, caller *auth.Principal) string {
	switch {
	case !limit.PerCaller():
		return limit.Key()
	case caller != nil:
		return limit.Key() + admission.PrincipalKey(caller.ID())
	}
	return limit.Key() + InfoFrom(ctx).Address.String()
}
