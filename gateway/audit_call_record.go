package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// callRecord collects the data of a call's audit record. Only the call's goroutine uses it.
type callRecord struct {
	start     time.Time
	rpc       string // overrides the method of the request; "" if it doesn't
	outcome   telemetry.Outcome
	status    int
	tried     bool // a request was attempted
	requests  int
	redirects int
	cache     string
	sent      int64
	received  int64
}

// unaudited is the text for the model if the audit log can't be written.
const unaudited = "The gateway can't write its audit log now, and makes no call without it. Nothing was sent. Try again in a minute; if that does " +
	"not help, tell the user that the operator of the gateway must look at the audit log."

// enter begins the audit record of a call if there is an audit log. The caller must call leave.
func (c *call) enter() {
	if c.g.audit != nil {
		c.callRecord = &callRecord{start: time.Now()}
	}
}

// accountable waits until the audit log has capacity for the call's record, before anything is sent to a service. The
// error is a *failure.
func (c *call) accountable(ctx context.Context) error {
	if c.g.audit == nil {
		return nil
	}
	err := c.g.audit.Ready(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, audit.ErrFull):
		return &failure{telemetry.OutcomeUnaudited, err, unaudited}
	}
	return c.failed(err)
}

// exchanged records in the metrics and the audit record how often a request was sent to the service, and the response,
// which is nil if there was none.
func (c *call) exchanged(req *http.Request, resp *http.Response, requests int) {
	c.settle()
	c.status = 0
	if resp != nil {
		c.body, c.status = resp.Body, resp.StatusCode
		c.received, _ = resp.Body.(receivedCounter)
	}
	sent := int64(requests) * max(0, req.ContentLength)
	c.plan.metrics.Traffic.Exchanged(sent, resp)
	a := c.callRecord
	if a == nil {
		return
	}
	a.tried = true
	a.requests += requests
	a.sent += sent
	if resp != nil {
		a.status = resp.StatusCode
	}
}

// receivedCounter is a body that counts the bytes read from it.
type receivedCounter interface{ Received() int64 }

// settle records how many bytes of the last response were received.
func (c *call) settle() {
	if c.received == nil {
		return
	}
	n := c.received.Received()
	c.received = nil
	c.plan.metrics.Traffic.Received(n)
	if c.callRecord != nil {
		c.callRecord.received += n
	}
}

// leave writes the audit record of a call that has ended with err. A task lookup that made no request and was not
// refused is not a call.
func (c *call) leave(err error) {
	c.settle()
	a := c.callRecord
	if a == nil {
		return
	}
	if a.outcome == "" {
		var refused *mcp.Error
		var failed *failure
		switch {
		case errors.As(err, &refused):
			a.outcome = telemetry.OutcomeInvalid
		case !a.tried:
			return
		case errors.As(err, &failed):
			a.outcome = failed.outcome // not reported to anybody
		case err != nil:
			a.outcome = telemetry.OutcomeInternal
		default:
			a.outcome = telemetry.OutcomeOK
		}
	}
	c.g.write(c, a)
}

// decisionOf returns the decision that an outcome stands for.
func decisionOf(o telemetry.Outcome) audit.Decision {
	switch o {
	case telemetry.OutcomeScope, telemetry.OutcomeCondition, telemetry.OutcomeUnconfirmed, telemetry.OutcomeUnanswered, telemetry.OutcomeNoTasks, telemetry.OutcomeUnaudited, telemetry.OutcomeInvalid, telemetry.OutcomeUnknown, telemetry.OutcomeLimited, telemetry.OutcomeUncounted:
		return audit.Refused
	case telemetry.OutcomeAsked:
		return audit.Asked
	default:
		return audit.Allowed
	}
}

// write writes the audit record of a call.
func (g *Gateway) write(c *call, a *callRecord) {
	line := audit.Line{
		Time: a.start, Request: requestInfoFrom(c.ctx).request(), RPC: c.req.Method, Decision: decisionOf(a.outcome), Outcome: string(a.outcome),
		Cache: a.cache, Status: a.status, Requests: a.requests, Redirects: a.redirects, Sent: a.sent, Received: a.received, Duration: time.Since(a.start),
	}
	if a.rpc != "" {
		line.RPC = a.rpc
	}
	if c.endpoint != nil {
		line.Endpoint = c.endpoint.name
	}
	if p := c.caller; p != nil {
		line.Issuer, line.Subject, line.Client, line.Scopes = p.Issuer, p.Subject, p.ClientID, p.Scopes
	}
	if id := trace.SpanContextFromContext(c.ctx).TraceID(); id.IsValid() {
		line.Trace = id.String()
	}
	line.Arguments, line.Dropped = c.args, c.dropped
	if line.Arguments == nil {
		line.Arguments = c.req.Arguments
	}
	line.Shown = line.Arguments
	if p := c.plan; p != nil {
		line.Tool, line.API, line.Method, line.Path = p.Tool.Name, p.Tool.API, p.Operation.Method, p.Operation.Path
		if p.sensitive != nil && g.audit.Shows() {
			line.Shown = p.sensitive.JSON(line.Arguments)
		}
	} else {
		line.Tool = c.req.Name
	}
	g.audit.Write(&line)
}

// refuseScope counts a call for which the caller's scopes do not suffice, and writes its audit record.
func (g *Gateway) refuseScope(ctx context.Context, e *callEndpoint, p *Plan, caller *auth.Principal, req *mcp.Request) {
	p.metrics.Count(telemetry.OutcomeScope)
	g.refuse(ctx, e, p, caller, req, telemetry.OutcomeScope)
}

// refuse writes the audit record of a call that is refused before it begins.
func (g *Gateway) refuse(ctx context.Context, e *callEndpoint, p *Plan, caller *auth.Principal, req *mcp.Request, o telemetry.Outcome) {
	if g.audit != nil {
		g.write(&call{g: g, ctx: ctx, endpoint: e, plan: p, caller: caller, req: req}, &callRecord{start: time.Now(), outcome: o})
	}
}
