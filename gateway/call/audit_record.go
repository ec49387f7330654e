package call

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/history"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// callRecord collects what the audit log and the history say of a call beside its outcome. Only the call's goroutine uses it.
type callRecord struct {
	start   time.Time                    // of the work on the call; see questions.resume
	begun   time.Time                    // of the call; zero if that is start
	reached [history.Steps]time.Duration // when each step ended, since start; 0 if it was not reached
	outcome telemetry.Outcome
	answer  []byte // the first bytes of the texts of the result, if the history has bodies; see shown
}

// reach notes the end of a step, if there is a record and it was not reached before.
func (a *callRecord) reach(s history.Step) {
	if a != nil && a.reached[s] == 0 {
		a.reached[s] = time.Since(a.start)
	}
}

// time returns when the call began.
func (a *callRecord) time() time.Time {
	if a.begun.IsZero() {
		return a.start
	}
	return a.begun
}

// deliver adds a text of the result, if there is a record. keep reports whether its first bytes are kept.
func (a *callRecord) deliver(text []byte, keep bool) {
	if a == nil {
		return
	}
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

// end completes the record of a call that has ended with err, and reports whether it is written: a task lookup that attempted no
// request and was not refused is not a call.
func (a *callRecord) end(err error, attempted bool) bool {
	if a.outcome != "" {
		return true
	}
	var refused *mcp.Error
	var failed *Failure
	switch {
	case errors.As(err, &refused):
		a.outcome = telemetry.OutcomeInvalid
	case !attempted:
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
	default:
		return audit.Allowed
	}
}

// recorded reports whether calls have a record at present.
func (r *Runner) recorded() bool { return r.Audit != nil || r.History.On() }

// endRecord writes the record of a call that has ended with err.
func (c *Call) endRecord(err error) {
	c.endBody()
	if c.record != nil && !c.questions.wait() && c.record.end(err, c.out.Usage.Attempted) {
		c.r.writeRecord(c.ctx, c)
	}
}

// RecordDenied counts a call that is refused before it begins, and writes its record.
func (r *Runner) RecordDenied(ctx context.Context, inv *Invocation, o telemetry.Outcome) {
	if inv.Tool != nil {
		inv.Tool.Metrics().Count(o)
	}
	if !r.recorded() {
		return
	}
	c := r.New(ctx, *inv)
	c.record.outcome = o
	r.writeRecord(ctx, c)
}

// writeRecord writes a call to the audit log and the history.
func (r *Runner) writeRecord(ctx context.Context, c *Call) {
	if r.Audit != nil {
		r.writeAuditRecord(ctx, c)
	}
	if r.History.On() {
		r.addToHistory(ctx, c)
	}
}

// lastArguments returns the arguments as last validated, else as they were given.
func (c *Call) lastArguments() json.RawMessage {
	if c.args != nil {
		return c.args
	}
	return c.Arguments
}

// rpc returns the name of what the call serves: its MCP method, or watch for a subscription.
func (c *Call) rpc() string {
	if c.Origin == FromSubscription {
		return "watch"
	}
	return c.Method
}

// writeAuditRecord writes the audit record of a call.
func (r *Runner) writeAuditRecord(ctx context.Context, c *Call) {
	a, u := c.record, &c.out.Usage
	line := audit.Line{
		Time: a.time(), Request: c.Request.String(), Asked: c.questions.times(), Parent: c.Parent, RPC: c.rpc(), Decision: decisionOf(a.outcome), Outcome: string(a.outcome),
		Cache: u.Cache, Status: u.Status, Requests: u.Requests, Redirects: u.Redirects, Sent: u.Sent, Received: u.Received, Delivered: u.Delivered, Tokens: u.Tokens, Duration: time.Since(a.start),
	}
	line.Protocol, line.Session = c.Caller.Protocol.Revision, telemetry.SessionDigest(c.Caller.Header)
	if id := c.questions.call(); id != line.Request {
		line.Call = id
	}
	if c.Endpoint != nil {
		line.Endpoint = c.Endpoint.Name
	}
	if p := c.Caller.Principal; p != nil {
		line.Credential, line.Issuer, line.Subject, line.Client, line.Scopes = string(p.Credential), p.Issuer, p.Subject, p.ClientID, p.Scopes
	}
	if c.Trial != nil {
		line.Operator = c.Trial.Actor
	}
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		line.Trace = id.String()
	}
	line.Arguments, line.Dropped = c.lastArguments(), c.Dropped
	line.Shown = line.Arguments
	line.Tool, line.Via = c.Name, c.Via
	if c.Tool != nil {
		t, redaction := c.Tool.Definition(), c.Tool.Redaction()
		line.Tool, line.API, line.Method, line.Path = t.Name, t.API, t.Method, t.Path
		line.Arguments = redaction.Arguments.Shown(line.Arguments)
		line.Shown = line.Arguments
		if redaction.Sensitive != nil && r.Audit.Shows() {
			line.Shown = redaction.Sensitive.JSON(line.Arguments)
		}
	}
	if a.outcome == telemetry.OutcomeUnaudited {
		r.Audit.WriteCounted(&line)
		return
	}
	r.Audit.Write(&line)
}
