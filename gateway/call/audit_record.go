package call

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/history"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// callRecord collects what the audit log and the history say of a call. Only the call's goroutine uses it.
type callRecord struct {
	start     time.Time
	reached   [history.Steps]time.Duration // when each step ended, since start; 0 if it was not reached
	rpc       string                       // overrides the method of the request; "" if it doesn't
	outcome   telemetry.Outcome
	status    int
	tried     bool // a request was attempted
	requests  int
	redirects int
	cache     string
	sent      int64
	received  int64
	delivered int64  // bytes of the texts of the result
	answer    []byte // the first bytes of these, if the history has bodies; see shown
}

// auditedCall is what the audit record of a call says beside its [callRecord].
type auditedCall struct {
	req      *mcp.Request
	endpoint *Endpoint
	plan     *plan.Plan      // nil if there is no such tool
	caller   *auth.Principal // nil if no token was required
	args     []byte          // as last validated; nil if they are those of the request
	dropped  []string
}

// reach notes the end of a step, if there is a record.
func (a *callRecord) reach(s history.Step) {
	if a != nil {
		a.reached[s] = time.Since(a.start)
	}
}

// deliver adds a text of the result, if there is a record. keep says whether its first bytes are kept.
func (a *callRecord) deliver(text []byte, keep bool) {
	if a == nil {
		return
	}
	a.delivered += int64(len(text))
	if keep && len(a.answer) < maxUnredacted {
		a.answer = append(a.answer, text[:min(len(text), maxUnredacted-len(a.answer))]...)
	}
}

// setOutcome sets the outcome of the call, if there is a record.
func (a *callRecord) setOutcome(o telemetry.Outcome) {
	if a != nil {
		a.outcome = o
	}
}

// exchanged adds a request that was sent a number of times, and its response, which is nil if there was none.
func (a *callRecord) exchanged(requests int, sent int64, resp *http.Response) {
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

// end completes the record of a call that has ended with err, and reports whether it is written: a task lookup that made no
// request and was not refused is not a call.
func (a *callRecord) end(err error) bool {
	if a.outcome != "" {
		return true
	}
	var refused *mcp.Error
	var failed *Failure
	switch {
	case errors.As(err, &refused):
		a.outcome = telemetry.OutcomeInvalid
	case !a.tried:
		return false
	case errors.As(err, &failed):
		a.outcome = failed.Outcome // not reported to anybody
	case err != nil:
		a.outcome = telemetry.OutcomeInternal
	default:
		a.outcome = telemetry.OutcomeOK
	}
	return true
}

// decisionOf returns the decision that an outcome stands for.
func decisionOf(o telemetry.Outcome) audit.Decision {
	switch o {
	case telemetry.OutcomeScope, telemetry.OutcomeCondition, telemetry.OutcomeUnconfirmed, telemetry.OutcomeUnanswered,
		telemetry.OutcomeNoTasks, telemetry.OutcomeUnaudited, telemetry.OutcomeInvalid, telemetry.OutcomeUnknown, telemetry.OutcomeLimited,
		telemetry.OutcomeUncounted:
		return audit.Refused
	case telemetry.OutcomeAsked:
		return audit.Asked
	default:
		return audit.Allowed
	}
}

// recorded reports whether calls have a record at present.
func (r *Runner) recorded() bool { return r.Audit != nil || r.History.On() }

// writeRecord writes a call to the audit log and the history.
func (r *Runner) writeRecord(ctx context.Context, c auditedCall, a *callRecord) {
	if r.Audit != nil {
		r.writeAuditRecord(ctx, c, a)
	}
	if r.History.On() {
		r.addToHistory(ctx, c, a)
	}
}

// writeAuditRecord writes the audit record of a call.
func (r *Runner) writeAuditRecord(ctx context.Context, c auditedCall, a *callRecord) {
	info := InfoFrom(ctx)
	line := audit.Line{
		Time: a.start, Request: info.ID(), RPC: c.req.Method, Decision: decisionOf(a.outcome), Outcome: string(a.outcome),
		Cache: a.cache, Status: a.status, Requests: a.requests, Redirects: a.redirects, Sent: a.sent, Received: a.received, Duration: time.Since(a.start),
	}
	if a.rpc != "" {
		line.RPC = a.rpc
	}
	if c.endpoint != nil {
		line.Endpoint = c.endpoint.Name
	}
	if p := c.caller; p != nil {
		line.Issuer, line.Subject, line.Client, line.Scopes = p.Issuer, p.Subject, p.ClientID, p.Scopes
	}
	if info.Trial != nil {
		line.Operator = info.Trial.Actor
	}
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		line.Trace = id.String()
	}
	line.Arguments, line.Dropped = c.args, c.dropped
	if line.Arguments == nil {
		line.Arguments = c.req.Arguments
	}
	line.Shown = line.Arguments
	if p := c.plan; p != nil {
		line.Tool, line.API, line.Method, line.Path = p.Tool.Name, p.Tool.API, p.Operation.Method, p.Operation.Path
		line.Arguments = p.Arguments.Shown(line.Arguments)
		line.Shown = line.Arguments
		if p.Sensitive != nil && r.Audit.Shows() {
			line.Shown = p.Sensitive.JSON(line.Arguments)
		}
	} else {
		line.Tool = c.req.Name
	}
	r.Audit.Write(&line)
}

// RecordScopeDenied counts a call for which the caller's scopes do not suffice, and writes its audit record.
func (r *Runner) RecordScopeDenied(ctx context.Context, e *Endpoint, p *plan.Plan, caller *auth.Principal, req *mcp.Request) {
	p.Metrics.Count(telemetry.OutcomeScope)
	r.recordDenied(ctx, e, p, caller, req, telemetry.OutcomeScope)
}

// recordDenied writes the audit record of a call that is refused before it begins.
func (r *Runner) recordDenied(ctx context.Context, e *Endpoint, p *plan.Plan, caller *auth.Principal, req *mcp.Request, o telemetry.Outcome) {
	if r.recorded() {
		r.writeRecord(ctx, auditedCall{endpoint: e, plan: p, caller: caller, req: req}, &callRecord{start: time.Now(), outcome: o})
	}
}
