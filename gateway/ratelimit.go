package gateway

import (
	"context"

	"drawbridge/config"
	"drawbridge/gateway/admission"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/clientip"
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

// refuseRate refuses a request of an identified caller, and writes its audit record.
func (g *Gateway) refuseRate(ctx context.Context, req *mcp.Request, r *admission.Rate, d state.Decision) *mcp.Error {
	e, because := g.refuseByRate(r, d)
	g.accountRefused(ctx, req.HTTP, telemetry.Outcome(because), e.HTTPStatus, audit.Line{RPC: req.Method})
	return e
}

// saidRate is the key prefix under which notifications and responses of a caller are counted: elicitation results,
// cancellations, ends of sessions. Their limit equals that of requests and is separate from it, so that a caller that
// sends too many requests does not lose the answers of its user.
const saidRate = "said|"

// admit counts a request of an identified caller against its rate limit, and all requests of a batch but the first
// against that of the address as well.
func (g *Gateway) admit(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	v := requestInfoFrom(ctx)
	rates := &v.endpoint.rates
	if req.BatchIndex > 1 && rates.Address != nil && v.address != (clientip.Key{}) {
		if d := g.addresses.TakeBytes(v.address[:], rates.Address.Limit(), 1); !d.Allowed {
			return g.refuseRate(ctx, req, rates.Address, d)
		}
	}
	limit, key := rates.Of(ctx, req.Principal)
	if limit == nil || key == "" {
		return nil
	}
	if req.ID == nil {
		key = saidRate + key
	}
	// The decision is valid even if the counter could not be reached.
	d, _ := g.shared.rates.Take(ctx, key, limit.Limit(), 1)
	if !d.Allowed {
		return g.refuseRate(ctx, req, limit, d)
	}
	limit.SetHeader(reply.Header(), d.Remaining)
	return nil
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
