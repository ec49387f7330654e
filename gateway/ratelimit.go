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

// newRates compiles the rates of a configuration. Calls from the command line, or over a pipe, have none.
func newRates(c *config.Config, local bool) admission.Rates {
	if local {
		return admission.Rates{}
	}
	return admission.NewRates(c)
}

// refuseByRate counts a request that a rate doesn't allow, and returns its error and the reason.
func (g *Gateway) refuseByRate(r *admission.Rate, d state.Decision) (*mcp.Error, telemetry.RefusalReason) {
	e, because := r.Refuse(d)
	g.metrics.Refused[because].Inc()
	return e, because
}

// refuseRate refuses a request of a caller that is known, and tells the audit log.
func (g *Gateway) refuseRate(ctx context.Context, req *mcp.Request, r *admission.Rate, d state.Decision) *mcp.Error {
	e, because := g.refuseByRate(r, d)
	g.accountRefused(ctx, req.HTTP, telemetry.Outcome(because), e.HTTPStatus, audit.Line{RPC: req.Method})
	return e
}

// saidRate is what a caller says without wanting an answer is counted under: answers to questions, cancellations, the ends of sessions.
// It has as much room as the requests have, and its own, so that who calls too often does not lose what the user has answered.
const saidRate = "said|"

// admit counts a request of a caller that is known, and, of a batch, all but the first for the address as well.
func (g *Gateway) admit(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	v := requestInfoFrom(ctx)
	rates := &v.endpoint.gen.rates
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
	// The decision holds also where the counter could not be asked.
	d, _ := g.shared.rates.Take(ctx, key, limit.Limit(), 1)
	if !d.Allowed {
		return g.refuseRate(ctx, req, limit, d)
	}
	limit.SetHeader(reply.Header(), d.Remaining)
	return nil
}

// allowed looks for room for the call, then counts it against the rates of its tool and its API. The error says when to come again.
func (c *call) allowed() error {
	if e, _ := c.g.crowded(c.endpoint.gen, requestInfoFrom(c.ctx).memoryChecked); e != nil {
		c.turnedAway(telemetry.OutcomeLimited)
		return e
	}
	return c.rated()
}

// rated counts the call against the rates of its tool and its API. The error says when to come again.
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

// turnedAway counts the call as one that may come again.
func (c *call) turnedAway(because telemetry.Outcome) {
	c.plan.metrics.Count(because)
	if c.callRecord != nil {
		c.callRecord.outcome = because
	}
}

// keyOf returns the name of the counter of a rate for the call.
func (c *call) keyOf(r *admission.Rate) string {
	if !r.PerCaller() {
		return r.Key()
	}
	if c.caller != nil {
		return r.Key() + admission.PrincipalKey(c.caller.ID())
	}
	return r.Key() + requestInfoFrom(c.ctx).address.String()
}
