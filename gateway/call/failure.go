package call

import (
	"errors"
	"net/http"
	"time"

	"drawbridge/auth"
	"drawbridge/auth/credential"
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

// IsFailure reports whether err is a failure of the call itself.
func IsFailure(err error) bool {
	var f *Failure
	return errors.As(err, &f)
}

// failureOf returns the failure of a call for an error of building its request, of sending it, or of reading the response.
// It returns nil for an error that should not happen. safe means that the call can't have changed anything.
func failureOf(err error, caller *auth.Principal, safe bool) *Failure {
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
	switch {
	case known && e.Kind == upstream.Canceled:
	case errors.As(err, &token):
		return &Failure{telemetry.Outcome("token_" + token.Failure.String()), err, tokenMessage(token, caller)}
	case errors.As(err, &header):
		return &Failure{telemetry.OutcomeHeader, err, header.ToolMessage()}
	case errors.As(err, &claim) && caller == nil:
		return &Failure{telemetry.OutcomeCondition, err, noCallerForClaim}
	case errors.As(err, &claim):
		return &Failure{telemetry.OutcomeCondition, err, claim.ToolMessage()}
	}
	if known {
		return &Failure{telemetry.Outcome(e.Kind.String()), err, e.ToolMessageFor(safe)}
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

// noCallerForClaim is the text for a call without a token whose request needs a claim of one.
const noCallerForClaim = "The request of this tool has values from claims of the caller's token, and a call without a login, such as one from the command" +
	" line, has no caller. Nothing was sent to the service."

// tokenMessage returns the text for the model about a missing token for the service. A call from the command line has
// no caller in the sense of a token exchange.
func tokenMessage(e *credential.TokenError, caller *auth.Principal) string {
	if e.Failure == credential.NoCaller && caller == nil {
		return "The credential of the API is of type token_exchange: the service gets a token for that of the caller, and a call" +
			" without a login, such as one from the command line, has no caller. Nothing was sent to the service."
	}
	return e.ToolMessage()
}

// serviceFailure returns the failure for a response with a status of 300 or more.
func (x *exchange) serviceFailure(resp *http.Response) error {
	return x.serviceFailureAs(resp, x.Plan.Operation.Answers.Meaning(resp.StatusCode))
}

// serviceFailureAs is serviceFailure with the document's description of the status, meaning, which may be empty.
func (x *exchange) serviceFailureAs(resp *http.Response, meaning string) error {
	e := render.UpstreamError{API: x.Plan.Tool.API, Response: resp, Meaning: meaning, Unfollowed: x.unfollowed, Safe: x.Plan.ChangesNothing(), Redactor: x.errorRedactor(resp.StatusCode),
		Owner: x.Plan.CredentialOwner(x.Request.HTTP.Header)}
	err := x.readResponse(resp, e.AddPart)
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
