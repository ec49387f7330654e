package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
	"drawbridge/openapi"
	"drawbridge/openapi/answer"
)

// Failure is the error of a call that failed: the outcome for the metrics, the cause for the log and the text for the
// model.
type Failure struct {
	Outcome telemetry.Outcome
	Cause   error // nil if the outcome says everything
	Text    string
}

func (f *Failure) Error() string {
	if f.Cause != nil {
		return string(f.Outcome) + ": " + f.Cause.Error()
	}
	return string(f.Outcome)
}

func (f *Failure) Unwrap() error { return f.Cause }

// failureIn returns the failure of the call itself that err is or wraps, or nil.
func failureIn(err error) *Failure {
	var f *Failure
	if !errors.As(err, &f) {
		return nil
	}
	return f
}

// IsFailure reports whether err is a failure of the call itself.
func IsFailure(err error) bool { return failureIn(err) != nil }

// Failed returns the failure of a call for an error of building a request, of sending it, or of reading the response.
func (c *Call) Failed(ctx context.Context, err error) error {
	var unheard replyError
	switch {
	case errors.As(err, &unheard):
		return unheard.error
	case IsFailure(err): // as it is: it may say more than a failure does
		return err
	}
	c.countRefusal(err)
	if f := failureOf(err, c.Caller.Principal, c.Plan); f != nil {
		return f
	}
	return c.Internal(ctx, err)
}

// Panicked returns the failure for a panic of the call's goroutine, which counts it. It must be called by the function that recovers.
func (c *Call) Panicked(ctx context.Context, v any) error {
	c.r.Metrics.Panics.Inc()
	return c.Internal(ctx, fmt.Errorf("panic: %v", v), slog.String("stack", string(debug.Stack())))
}

// FailureOf is Failed for an error that can't be that of a client.
func (c *Call) FailureOf(ctx context.Context, err error) *Failure {
	return failureIn(c.Failed(ctx, err))
}

// Internal returns the failure for an error that should not happen: the model gets a reference, the log the cause.
func (c *Call) Internal(ctx context.Context, cause error, attrs ...slog.Attr) error {
	reference := mcp.NewReference()
	c.r.Log.LogAttrs(ctx, slog.LevelError, "internal error in a call", append(attrs,
		slog.String("reference", reference), slog.String("tool", c.Tool.Definition().Name), slog.Any("error", cause))...)
	return &Failure{Outcome: telemetry.OutcomeInternal, Text: "Internal error of the gateway, reference " + reference +
		". The operator finds the cause in the log under this reference; calling again with other arguments may help."}
}

// failureOf returns the failure of a call for an error of building its request, of sending it, or of reading the response.
// It returns nil for an error that should not happen.
func failureOf(err error, caller *auth.Principal, p *plan.Plan) *Failure {
	safe := p.ChangesNothing()
	var bad *openapi.ArgumentError
	var homeless *openapi.BaseError
	switch {
	case errors.As(err, &bad):
		return &Failure{telemetry.OutcomeArguments, nil, bad.ToolMessage()}
	case errors.As(err, &homeless):
		return &Failure{telemetry.OutcomeNoBase, err, homeless.ToolMessage()}
	}
	var e *upstream.Error
	known := errors.As(err, &e)
	var token *credential.TokenError
	var header *credential.HeaderError
	var claim *credential.ClaimError
	var server *credential.ServerError
	switch {
	case known && e.Kind == upstream.Canceled:
	case errors.As(err, &token):
		return &Failure{telemetry.Outcome("token_" + token.Failure.String()), err, tokenMessage(token, caller)}
	case errors.As(err, &header):
		return &Failure{telemetry.OutcomeHeader, err, header.ToolMessage()}
	case errors.As(err, &server):
		return &Failure{telemetry.OutcomeCondition, err, server.ToolMessage()}
	case errors.As(err, &claim) && caller == nil:
		return &Failure{telemetry.OutcomeCondition, err, noCallerForClaim}
	case errors.As(err, &claim):
		return &Failure{telemetry.OutcomeCondition, err, claim.ToolMessage()}
	}
	if known {
		text := e.ToolMessageFor(safe)
		if e.Kind == upstream.TooLarge {
			text += " " + askForLess(p)
		}
		return &Failure{telemetry.Outcome(e.Kind.String()), err, text}
	}
	var broken *answer.Error
	if errors.As(err, &broken) {
		kind := upstream.Protocol
		if broken.Truncated {
			kind = upstream.Truncated
		}
		return &Failure{telemetry.Outcome(kind.String()), err, broken.ToolMessageFor(safe)}
	}
	return nil
}

// askForLess is the advice after a response that is too large.
func askForLess(p *plan.Plan) string {
	ways := p.Smaller().Ways()
	switch {
	case len(ways) == 0:
		return "If other arguments don't make the answer smaller, tell the user that the operator of the gateway can raise the limit."
	case p.ChangesNothing():
		return "To get an answer, " + strings.Join(ways, ", or ") + "."
	}
	return "In other calls, " + strings.Join(ways, ", or ") + "."
}

// noCallerForClaim is the text for a call without a token whose request needs a claim of one.
const noCallerForClaim = "The request of this tool has values from claims of the caller's token, and a call without a login, such as one from the command" +
	" line, has no caller. Nothing was sent to the service."

// tokenMessage returns the text for the model about a missing token for the service. A call from the command line has
// no caller in the sense of a token exchange, and one with an API key no token.
func tokenMessage(e *credential.TokenError, caller *auth.Principal) string {
	if e.Failure == credential.NoCaller && e.Kind == credential.Account {
		switch {
		case caller == nil:
			return "The service knows each user by an own account, and a call without a login, such as one from the command line, has no user." +
				" Nothing was sent to the service."
		case caller.Credential == auth.CredentialAPIKey:
			return "The service knows each user by an own account, and this caller has an API key, which belongs to no user." +
				" Nothing was sent to the service. Repeating the call does not help: the tool can only be used with a login."
		}
		return e.ToolMessage()
	}
	if e.Failure == credential.NoCaller && caller == nil {
		return "The credential of the API is of type " + e.Kind.String() + ": the service gets a token for that of the caller, and a call" +
			" without a login, such as one from the command line, has no caller. Nothing was sent to the service."
	}
	if e.Failure == credential.NoCaller && caller.Credential == auth.CredentialAPIKey {
		return "The service gets a token for that of the caller, and this caller has an API key, which is neither exchanged nor passed on." +
			" Nothing was sent to the service. Repeating the call does not help: the tool can only be used with a login."
	}
	return e.ToolMessage()
}

// ServiceFailure returns the failure for a response with a status of 300 or more. meaning is the document's description of the status,
// and may be empty.
func (c *Call) ServiceFailure(resp *http.Response, meaning string) error {
	e := render.UpstreamError{API: c.Plan.Tool.API, Response: resp, Meaning: meaning, Unfollowed: c.unfollowed, Safe: c.Plan.ChangesNothing(), Redactor: c.ErrorRedactor(resp.StatusCode),
		Owner: c.Plan.CredentialOwner(c.Caller.Header)}
	var read answer.Parts
	defer read.Release()
	err := c.read(resp, &read)
	for _, part := range read.List {
		e.AddPart(part)
	}
	tooLarge := isTooLarge(err)
	if err != nil && !tooLarge {
		return err
	}
	o := telemetry.OutcomeServerError
	switch {
	case resp.StatusCode < 400:
		o = telemetry.OutcomeRedirect
	case resp.StatusCode < 500:
		o = telemetry.OutcomeClientError
	}
	return &Failure{Outcome: o, Text: e.Text(tooLarge, time.Now())}
}

// isTooLarge reports whether reading a response failed because it, or all responses in progress together, are too
// large.
func isTooLarge(err error) bool {
	var limit *upstream.Error
	var failed *Failure
	return errors.As(err, &limit) && limit.Kind == upstream.TooLarge ||
		errors.As(err, &failed) && (failed.Outcome == telemetry.Outcome(upstream.TooLarge.String()) || failed.Outcome == telemetry.Outcome(upstream.Overloaded.String()))
}
