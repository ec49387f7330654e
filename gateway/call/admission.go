package call

import (
	"context"

	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// admit checks the capacity for the call, then counts it against the rate limits of its tool and its API. The error
// says when to retry.
func (c *Call) admit(ctx context.Context) error {
	if e, _ := c.r.Overloaded(c.Endpoint.MaxCalls, InfoFrom(ctx).MemoryChecked); e != nil {
		c.countRejected(telemetry.OutcomeLimited)
		return e
	}
	return c.chargeRates(ctx)
}

// chargeRates counts the call against the rate limits of its tool and its API. The error says when to retry.
func (c *Call) chargeRates(ctx context.Context) error {
	e, because := c.r.chargeRates(ctx, c.Plan.Rates, c.Caller)
	if e == nil {
		return nil // a typed nil would make the error non-nil
	}
	c.countRejected(because)
	return e
}

// countRejected counts the call as rejected for a reason that is temporary.
func (c *Call) countRejected(because telemetry.Outcome) {
	c.Plan.Metrics.Count(because)
	c.record.setOutcome(because)
}

// startRunning counts the call against limits.max_calls. It returns an error if the limit is reached.
func (c *Call) startRunning() *mcp.Error {
	if because := c.r.Overload.Admit(c.Endpoint.MaxCalls); because != "" {
		c.countRejected(telemetry.OutcomeLimited)
		return c.r.overloadError(because)
	}
	c.running = true
	return nil
}

// stopRunning ends the call's count against limits.max_calls as soon as the call has its answer, so that a client that
// reads slowly holds up no other call.
func (c *Call) stopRunning() {
	if c.running {
		c.running = false
		c.r.Overload.Done()
	}
}
