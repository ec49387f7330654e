package gateway

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

// done counts the outcome and writes the call's log line: at debug level if all went well, at warning level if the
// service or the gateway is at fault, subject to [telemetry.LogSampler]. Arguments and answers are never logged.
func (c *call) done(ctx context.Context, o telemetry.Outcome, cause error) {
	c.plan.Metrics.Count(o)
	c.record.setOutcome(o)
	if c.quiet {
		return
	}
	if cause != nil {
		if v := requestInfoOf(ctx); v != nil && v.operator {
			v.cause = cause
		}
	}
	if c.captured == nil { // tasks have no such messages
		logOutcome(c.reply, o)
	}
	level := slog.LevelInfo
	switch o {
	case telemetry.OutcomeOK, telemetry.OutcomeArguments, telemetry.OutcomeAsked, telemetry.OutcomeJob:
		level = slog.LevelDebug
	case telemetry.OutcomeRedirect, telemetry.OutcomeClientError, telemetry.OutcomeSubjectRefused, telemetry.OutcomeUnconfirmed, telemetry.OutcomeUnanswered, telemetry.OutcomeJobFailed, telemetry.OutcomeNoTasks, telemetry.Outcome(upstream.Canceled.String()):
	default:
		level = slog.LevelWarn
	}
	if c.span != nil {
		telemetry.SetOutcome(c.span, c.req.Method, o)
	}
	line := telemetry.Sampled{Logged: true}
	if level == slog.LevelWarn {
		if line = c.r.faults.Sample(c.plan.Tool.API, string(o), time.Now()); !line.Logged {
			level = slog.LevelDebug
		}
	}
	if !c.r.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("api", c.plan.Tool.API), slog.String("tool", c.plan.Tool.Name), slog.String("outcome", string(o)),
		slog.String("principal", c.req.Principal),
	}
	if c.status != 0 {
		attrs = append(attrs, slog.Int("status", c.status))
	}
	if cause != nil {
		attrs = append(attrs, slog.Any("error", cause))
	}
	c.r.log.LogAttrs(ctx, level, "call", line.Attrs(attrs, "calls are only counted, by drawbridge_tool_calls_total")...)
}

// endRecord writes the audit record of a call that has ended with err.
func (c *call) endRecord(ctx context.Context, err error) {
	c.endBody()
	if c.record != nil && c.record.end(err) {
		c.r.writeRecord(ctx, auditedCall{req: c.req, endpoint: c.endpoint, plan: c.plan, caller: c.caller, args: c.args, dropped: c.dropped}, c.record)
	}
}

// conclude turns a failure into a result with isError; any other error is returned as the error of the answer. The
// failure of a call that is buffered is only recorded.
func (c *call) conclude(ctx context.Context, err error) error {
	if err == nil { // fast path without allocations
		return nil
	}
	var f *failure
	if errors.As(err, &f) && !c.answered {
		if c.buffered {
			if !c.background {
				c.done(ctx, f.outcome, f.cause)
			}
			return err
		}
		if f.outcome == telemetry.OutcomeJob {
			return c.answerNotDisclosed(ctx, f.text)
		}
		if mcp.IsShutdown(ctx) && f.outcome == telemetry.Outcome(upstream.Canceled.String()) {
			c.done(ctx, f.outcome, f.cause)
			c.answered = true
			return f.cause // mcp turns it into an error that names the shutdown
		}
		var missed *statusError // the job continues, and repeating the call would start another
		if refused := c.subjectRefused(f); refused != nil && c.captured == nil && !errors.As(err, &missed) {
			c.done(ctx, f.outcome, f.cause)
			return refused
		}
		return c.fail(ctx, f.outcome, f.cause, f.text)
	}
	return err
}

// failed returns the failure of a call for an error of building its request, of sending it, or of reading the response.
func (c *call) failed(ctx context.Context, err error) error {
	if isFailure(err) { // as it is: it may say more than a failure does
		return err
	}
	if f := failureOf(err, c.caller); f != nil {
		return f
	}
	return c.internal(ctx, err)
}

// subjectRefused returns the error for a caller whose token the authorization server does not exchange: HTTP 401 with
// the challenge for an invalid token, so that the client gets another one and calls again. A model could do nothing
// about it. It returns nil if the call failed for another reason.
func (c *call) subjectRefused(f *failure) *mcp.Error {
	var e *credential.TokenError
	if f.outcome != telemetry.OutcomeSubjectRefused || c.endpoint.guard == nil || !errors.As(f.cause, &e) {
		return nil
	}
	return &mcp.Error{
		Code: mcp.CodeInvalidRequest, Message: "the authorization server does not accept the access token: get another one",
		HTTPStatus: http.StatusUnauthorized, Header: c.endpoint.guard.InvalidToken(c.caller),
	}
}

// internal returns the failure for an error that should not happen: the model gets a reference, the log the cause.
func (c *call) internal(ctx context.Context, cause error, attrs ...slog.Attr) error {
	reference := mcp.NewReference()
	c.r.log.LogAttrs(ctx, slog.LevelError, "internal error in a call", append(attrs,
		slog.String("reference", reference), slog.String("tool", c.plan.Tool.Name), slog.Any("error", cause))...)
	if c.answered {
		return fmt.Errorf("answer was begun: %w", cause)
	}
	return &failure{outcome: telemetry.OutcomeInternal, text: "Internal error of the gateway, reference " + reference +
		". The operator finds the cause in the log under this reference; calling again with other arguments may help."}
}
