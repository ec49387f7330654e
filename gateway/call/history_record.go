package call

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/history"
	"drawbridge/gateway/telemetry"
)

// addToHistory adds a call to the history, from what the audit log has of it.
func (r *Runner) addToHistory(ctx context.Context, c auditedCall, a *callRecord) {
	entry := history.Call{
		Time: a.start, RPC: c.req.Method, Tool: c.req.Name, Outcome: string(a.outcome), Status: a.status, Cache: a.cache,
		Duration: time.Since(a.start), Requests: a.requests, Sent: a.sent, Received: a.received, Result: a.delivered, Request: InfoFrom(ctx).ID(),
	}
	if a.rpc != "" {
		entry.RPC = a.rpc
	}
	entry.OK = succeeded(a.outcome)
	before := time.Duration(0)
	for i, end := range a.reached {
		if end > 0 {
			entry.Steps[i], before = end-before, end
		}
	}
	if before > 0 && entry.Steps[history.Service] > 0 {
		entry.Steps[history.Result] = entry.Duration - before
	}
	if p := c.caller; p != nil {
		entry.Caller, entry.Client = p.Subject, p.ClientID
	}
	if t := InfoFrom(ctx).Trial; t != nil {
		entry.Caller = t.Actor
	}
	if id := trace.SpanContextFromContext(ctx).TraceID(); id.IsValid() {
		entry.Trace = id.String()
	}
	if p := c.plan; p != nil {
		entry.Tool, entry.API = p.Tool.Name, p.Tool.API
	}
	if r.History.Bodies() {
		entry.Arguments, entry.Answer = shownArguments(c), a.answer
	}
	r.History.Add(&entry)
}

// succeeded reports whether an outcome is no failure of the call: a question to the user is none, nor is a job that has begun.
func succeeded(o telemetry.Outcome) bool {
	return o == telemetry.OutcomeOK || o == telemetry.OutcomeJob || decisionOf(o) == audit.Asked
}

// shownArguments returns the first bytes of a call's arguments, without those that are configured secrets or sensitive.
func shownArguments(c auditedCall) []byte {
	args := c.args
	if args == nil {
		args = c.req.Arguments
	}
	if p := c.plan; p != nil {
		args = p.Arguments.Shown(args)
		if p.Sensitive != nil {
			args = p.Sensitive.JSON(args)
		}
	}
	return append([]byte(nil), args[:min(len(args), history.MaxBody)]...)
}
