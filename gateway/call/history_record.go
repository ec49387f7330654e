package call

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/history"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/text"
)

// addToHistory adds a call to the history, from what the audit log has of it.
func (r *Runner) addToHistory(ctx context.Context, c *Call) {
	a, u := c.record, &c.out.Usage
	entry := history.Call{
		Time: a.time(), RPC: c.rpc(), Tool: c.Name, Via: c.Via, Outcome: string(a.outcome), OK: succeeded(a.outcome), Status: u.Status, Cache: u.Cache,
		Duration: time.Since(a.start), Requests: u.Requests, Sent: u.Sent, Received: u.Received, Result: u.Delivered, Request: c.Request.Known(),
		Trace: trace.SpanContextFromContext(ctx).TraceID(),
	}
	entry.Steps = a.steps(entry.Duration)
	if p := c.Caller.Principal; p != nil {
		entry.Caller, entry.Client = p.Subject, p.ClientID
	}
	if c.Trial != nil {
		entry.Caller = c.Trial.Actor
	}
	if c.Tool != nil {
		t, redaction := c.Tool.Definition(), c.Tool.Redaction()
		entry.Tool, entry.API = t.Name, t.API
		if r.History.Bodies() {
			entry.Arguments, entry.Answer = redaction.shown(redaction.shownArguments(c.lastArguments())), redaction.shown(a.answer)
		}
	}
	r.History.Add(&entry)
}

// steps returns how long each step took, of a call that took as long as whole. The step that the call ended in has the rest.
func (a *callRecord) steps(whole time.Duration) (steps [history.Steps]time.Duration) {
	before := time.Duration(0)
	for i, end := range a.reached {
		if end == 0 {
			steps[i] = max(whole-before, 0)
			break
		}
		steps[i], before = end-before, end
	}
	return steps
}

// succeeded reports whether an outcome is no failure of the call: a job that has begun is none.
func succeeded(o telemetry.Outcome) bool {
	return o == telemetry.OutcomeOK || o == telemetry.OutcomeJob
}

const (
	// maxUnredacted is how much of a body is kept for shown, which needs to see more than it returns.
	maxUnredacted = history.MaxBody + redact.Margin
	// maxSearched is how much of a call's arguments is searched for secrets of the configuration.
	maxSearched = 64 << 10
)

// shown returns the first bytes of arguments or an answer for operators: without the API's secrets and what has the form of a
// secret.
func (r *Redaction) shown(body []byte) []byte {
	if len(body) == 0 {
		return nil
	}
	raw := r.Secrets.All(string(body[:min(len(body), maxSearched)]))
	if len(raw) <= maxUnredacted && len(body) < maxUnredacted {
		return []byte(text.Truncate(redact.Error(raw), history.MaxBody))
	}
	raw = redact.Error(raw[:min(len(raw), maxUnredacted)])
	return []byte(text.Prefix(raw, min(max(len(raw)-redact.Margin, 0), history.MaxBody-len(text.Ellipsis))) + text.Ellipsis)
}
