package call

import (
	"context"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/history"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// operation is a tool that is an operation of an API. It is as large as a pointer, so that making a [Tool] of it costs nothing.
type operation struct{ plan *plan.Plan }

// Operation returns the tool that is the operation of a plan; nil if there is no plan.
func Operation(p *plan.Plan) Tool {
	if p == nil {
		return nil
	}
	return operation{p}
}

// PlanOf returns the plan of a tool that is an operation; nil for any other kind, and for no tool.
func PlanOf(t Tool) *plan.Plan {
	o, _ := t.(operation)
	return o.plan
}

// Definition implements [Tool].
func (o operation) Definition() *catalog.Tool { return o.plan.Tool }

// Scopes implements [Tool].
func (o operation) Scopes() (sets [][]string, needed bool) { return o.plan.Scopes, true }

// Rates implements [Tool].
func (o operation) Rates() []*admission.RateLimit { return o.plan.Rates }

// AsksUser implements [Tool].
func (o operation) AsksUser() bool {
	return o.plan.Consent.Needed || o.plan.Elicitation != nil || o.plan.Account() != nil
}

// Metrics implements [Tool].
func (o operation) Metrics() *telemetry.CallMetrics { return &o.plan.Metrics }

// Redaction implements [Tool].
func (o operation) Redaction() Redaction {
	return Redaction{Arguments: o.plan.Arguments, Sensitive: o.plan.Sensitive, Secrets: o.plan.Secrets}
}

// Run implements [Tool]: the arguments are prepared, the request is sent, and the response is read.
func (o operation) Run(ctx context.Context, c *Call) (err error) {
	if c.serverless != nil {
		return c.Failed(ctx, c.serverless)
	}
	if c.Policy.Arguments == Given {
		if err = c.prepare(ctx); err != nil {
			return err
		}
	}
	c.record.reach(history.Arguments)
	if err = o.begin(ctx, c); err != nil {
		return err
	}
	return c.execute(c.ctx)
}

// prepare is the part of a call's life before its request is built: the user is asked for arguments, the arguments are
// validated, the condition of the plan must hold, the user connects an account at the service, and must confirm. It has no deadline but the caller's, since
// a user takes time. The call continues with the arguments that the condition and the user have seen. The error is a
// [*Failure], or the error of the answer, which includes an [*mcp.InputRequired].
func (c *Call) prepare(ctx context.Context) error {
	if err := c.validate(ctx); err != nil {
		return err
	}
	if err := c.connectAccount(ctx); err != nil {
		return err
	}
	return c.confirm(ctx)
}

// execute is the part of a call's life that has a deadline: the request is sent unless the cache has the response, and
// the response is read.
func (c *Call) execute(ctx context.Context) (err error) {
	if c.Plan.Job.Callback != nil {
		if err = c.addCallbackURL(); err != nil {
			return c.Internal(ctx, err)
		}
	}
	resp, err := c.send(ctx)
	c.record.reach(history.Service)
	if err != nil {
		return err
	}
	if err = c.receive(ctx, resp); err != nil {
		return c.Failed(ctx, err)
	}
	return nil
}

// begin is [Call.Begin] for an operation: the context has the deadline and the credentials of the request, too.
func (o operation) begin(ctx context.Context, c *Call) error {
	p := o.plan
	if err := c.settle(ctx); err != nil {
		return err
	}
	if err := c.reject(c.ticket.Start()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	c.stop = cancel
	if c.Caller.Protocol.Family == mcp.Legacy && p.Safe && c.Endpoint.cancelOnDisconnect {
		// In the legacy revisions a closed connection is no cancellation. A safe call can be stopped nevertheless:
		// its answer can no longer be read, and the service is spared the work.
		stop := c.Client.OnDisconnect(cancel)
		c.stop = func() {
			stop()
			cancel()
		}
	}
	ctx, c.sent = p.Attach(ctx, c.Caller.Header, c.Endpoint.Guard)
	c.trace(ctx)
	return nil
}
