package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// Done counts the outcome and writes the call's log line: at debug level if all went well, at warning level if the
// service or the gateway is at fault, subject to [telemetry.LogSampler]. Arguments and answers are never logged.
func (w *resultWriter) Done(ctx context.Context, o telemetry.Outcome, cause error) {
	w.Plan.Metrics.Count(o)
	w.record.setOutcome(o)
	if w.Quiet {
		return
	}
	if cause != nil {
		if v := InfoOf(ctx); v != nil && v.Operator {
			v.Cause = cause
		}
	}
	if w.captured == nil { // tasks have no such messages
		logOutcome(w.reply, o)
	}
	level := slog.LevelInfo
	switch o {
	case telemetry.OutcomeOK, telemetry.OutcomeArguments, telemetry.OutcomeAsked, telemetry.OutcomeJob:
		level = slog.LevelDebug
	case telemetry.OutcomeRedirect, telemetry.OutcomeClientError, telemetry.OutcomeSubjectRefused, telemetry.OutcomeUnconfirmed,
		telemetry.OutcomeUnanswered, telemetry.OutcomeJobFailed, telemetry.OutcomeNoTasks, telemetry.Outcome(upstream.Canceled.String()):
	default:
		level = slog.LevelWarn
	}
	if w.span != nil {
		telemetry.SetOutcome(w.span, w.Request.Method, o)
	}
	line := telemetry.Sampled{Logged: true}
	if level == slog.LevelWarn {
		if line = w.r.faults.Sample(w.Plan.Tool.API, string(o), time.Now()); !line.Logged {
			level = slog.LevelDebug
		}
	}
	if !w.r.Log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("api", w.Plan.Tool.API), slog.String("tool", w.Plan.Tool.Name), slog.String("outcome", string(o)),
		slog.String("principal", w.r.Audit.Principal(w.Request.Principal)),
	}
	if w.status != 0 {
		attrs = append(attrs, slog.Int("status", w.status))
	}
	if cause != nil {
		attrs = append(attrs, slog.Any("error", cause))
	}
	if w.trial != nil {
		attrs = append(attrs, slog.String("operator", w.trial.Actor))
	}
	w.r.Log.LogAttrs(ctx, level, "call", line.Attrs(attrs, "calls are only counted, by drawbridge_tool_calls_total")...)
}

// endRecord writes the audit record of a call that has ended with err.
func (c *Call) endRecord(ctx context.Context, err error) {
	c.endBody()
	if c.record != nil && c.record.end(err) {
		c.r.writeRecord(ctx, auditedCall{req: c.Request, endpoint: c.Endpoint, plan: c.Plan, caller: c.Caller, args: c.args, dropped: c.dropped}, c.record)
	}
}

// conclude turns a failure into a result with isError; any other error is returned as the error of the answer. The
// failure of a call that is buffered is only recorded.
func (c *Call) conclude(ctx context.Context, err error) error {
	if err == nil { // fast path without allocations
		return nil
	}
	var f *Failure
	if errors.As(err, &f) && !c.answered {
		if c.buffered {
			if !c.background {
				c.Done(ctx, f.Outcome, f.Cause)
			}
			return err
		}
		if f.Outcome == telemetry.OutcomeJob {
			return c.answerNotDisclosed(ctx, f.Text)
		}
		if mcp.IsShutdown(ctx) && f.Outcome == telemetry.Outcome(upstream.Canceled.String()) {
			c.Done(ctx, f.Outcome, f.Cause)
			c.answered = true
			return f.Cause // mcp turns it into an error that names the shutdown
		}
		var missed *StatusError // the job continues, and repeating the call would start another
		if refused := c.SubjectRefused(f); refused != nil && c.captured == nil && !errors.As(err, &missed) {
			c.Done(ctx, f.Outcome, f.Cause)
			return refused
		}
		return c.fail(ctx, f.Outcome, f.Cause, c.withSignature(f))
	}
	return err
}

// failed returns the failure of a call for an error of building its request, of sending it, or of reading the response.
func (w *resultWriter) failed(ctx context.Context, err error) error {
	if IsFailure(err) { // as it is: it may say more than a failure does
		return err
	}
	if f := failureOf(err, w.Caller, w.Plan.ChangesNothing()); f != nil {
		return f
	}
	return w.internal(ctx, err)
}

// SubjectRefused returns the error for a caller whose token the authorization server does not exchange: HTTP 401 with
// the challenge for an invalid token, so that the client gets another one and calls again. A model could do nothing
// about it. It returns nil if the call failed for another reason.
func (x *exchange) SubjectRefused(f *Failure) *mcp.Error {
	var e *credential.TokenError
	if f.Outcome != telemetry.OutcomeSubjectRefused || x.Endpoint.Guard == nil || !errors.As(f.Cause, &e) {
		return nil
	}
	return &mcp.Error{
		Code: mcp.CodeInvalidRequest, Message: "the authorization server does not accept the access token: get another one",
		HTTPStatus: http.StatusUnauthorized, Header: x.Endpoint.Guard.InvalidToken(x.Caller),
	}
}

// internal returns the failure for an error that should not happen: the model gets a reference, the log the cause.
func (w *resultWriter) internal(ctx context.Context, cause error, attrs ...slog.Attr) error {
	reference := mcp.NewReference()
	w.r.Log.LogAttrs(ctx, slog.LevelError, "internal error in a call", append(attrs,
		slog.String("reference", reference), slog.String("tool", w.Plan.Tool.Name), slog.Any("error", cause))...)
	if w.answered {
		return fmt.Errorf("answer was begun: %w", cause)
	}
	return &Failure{Outcome: telemetry.OutcomeInternal, Text: "Internal error of the gateway, reference " + reference +
		". The operator finds the cause in the log under this reference; calling again with other arguments may help."}
}

// countRejected counts the call as rejected for a reason that is temporary.
func (x *exchange) countRejected(because telemetry.Outcome) {
	x.Plan.Metrics.Count(because)
	x.record.setOutcome(because)
}
