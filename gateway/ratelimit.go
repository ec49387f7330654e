package gateway

import (
	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/telemetry"
)

// newRates compiles the rate limits of a configuration. Calls from the command line, or over stdio, have none.
func newRates(c *config.Config, local bool) admission.Rates {
	if local {
		return admission.Rates{}
	}
	return admission.NewRates(c)
}

// refuseByRate counts a request that exceeds a rate limit, and returns its error and the reason.
func (g *Gateway) refuseByRate(r *admission.Rate, d state.Decision) (*mcp.Error, telemetry.RefusalReason) {
	e, because := r.Refuse(d)
	g.metrics.Refused[because].Inc()
	return e, because
}

// allowed checks the capacity for the call, then counts it against the rate limits of its tool and its API. The error
// says when to retry.
func (c *call) allowed() error {
	if e, _ := c.g.crowded(c.endpoint.maxCalls, requestInfoFrom(c.ctx).memoryChecked); e != nil {
		c.turnedAway(telemetry.OutcomeLimited)
		return e
	}
	return c.rated()
}

// rated counts the call against the rate limits of its tool and its API. The error says when to retry.
func (c *call) rated() error {
	all := c.plan.rates
	if len(all) == 0 {
		return nil
	}
	refuse := func(r *admission.Rate, d state.Decision) error {
		because := telemetry.OutcomeLimited
		if d.Uncounted {
			because = telemetry.OutcomeUncounted
		}
		c.turnedAway(because)
		e, _ := c.g.refuseByRate(r, d)
		return e
	}
	if len(all) == 1 {
		if d, _ := c.g.shared.rates.Take(c.ctx, c.keyOf(all[0]), all[0].Limit(), 1); !d.Allowed {
			return refuse(all[0], d)
		}
		return nil
	}
	takes := make([]state.Take, len(all))
	for i, r := range all {
		takes[i] = state.Take{Key: c.keyOf(r), Limit: r.Limit(), N: 1}
	}
	decisions, _ := c.g.shared.rates.TakeAll(c.ctx, takes)
	for i, d := range decisions {
		if !d.Allowed {
			return refuse(all[i], d)
		}
	}
	return nil
}

// turnedAway counts the call as refused for a reason that is temporary.
func (c *call) turnedAway(because telemetry.Outcome) {
	c.plan.metrics.Count(because)
	if c.callRecord != nil {
		c.callRecord.outcome = because
	}
}

// keyOf returns the counter key of a rate limit for the call.
func (c *call) keyOf(r *admission.Rate) string {
	if !r.PerCaller() {
		return r.Key()
	}
	if c.caller != nil {
		return r.Key() + admission.PrincipalKey(c.caller.ID())
	}
	return r.Key() + requestInfoFrom(c.ctx).address.String()
}
