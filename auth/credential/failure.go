package credential

import (
	"fmt"
	"time"
)

// Failure is the reason that there is no token. The set is closed, so it can label a metric.
type Failure uint8

// Failures of a [TokenError].
const (
	// Refused means that the authorization server refused to issue a token.
	Refused Failure = iota + 1
	// Unavailable means that the authorization server did not respond, or asked to retry later.
	Unavailable
	// Unusable means that the authorization server issued something else than requested.
	Unusable
	// SubjectRefused means that the authorization server does not accept the caller's token; the
	// caller needs another one.
	SubjectRefused
	// NoCaller means that the service gets a token for the caller's, and the request has none, or one
	// without a user.
	NoCaller
)

// String returns the failure as a metric label.
func (f Failure) String() string {
	switch f {
	case Refused:
		return "refused"
	case Unavailable:
		return "unavailable"
	case Unusable:
		return "unusable"
	case SubjectRefused:
		return "subject_refused"
	case NoCaller:
		return "no_caller"
	}
	return "unknown"
}

// TokenError is returned when no token is available; nothing was sent to the service. Its text is
// for the log and contains nothing that the authorization server wrote, except for standard error
// codes.
type TokenError struct {
	// Failure is the reason.
	Failure Failure
	// Kind is the kind of the credential.
	Kind Kind
	// Endpoint is host and port of the token endpoint, or of the service for LoginRequest and Digest.
	Endpoint string
	// Status is the status of the response, 0 if there was none.
	Status int
	// Code is the error code of the response, if it is one of RFC 6749 section 5.2, RFC 6750
	// section 3.1, RFC 8693 section 2.2.2, RFC 8707 section 2 or RFC 9449 section 5; otherwise
	// empty.
	Code string
	// RetryAfter is the delay that the server asks for, 0 if none.
	RetryAfter time.Duration

	detail string // further details without secrets
	advice string // the text for the model if it is another than the failure's
	cause  error  // nil or an error without secrets
}

// Error returns the text for the log.
func (e *TokenError) Error() string {
	text := fmt.Sprintf("credential: %s: ", e.Kind)
	texts := tokenTexts
	switch e.Kind { //nolint:exhaustive // all others have a token endpoint
	case LoginRequest:
		texts = loginTexts
	case Digest:
		texts = digestTexts
	}
	if e.Failure == NoCaller {
		text += "the request has no caller whose token could be exchanged"
	} else {
		text += fmt.Sprintf(texts[e.Failure], e.Endpoint)
	}
	if e.Status != 0 {
		text += fmt.Sprintf(", status %d", e.Status)
	}
	if e.Code != "" {
		text += fmt.Sprintf(", error %q", e.Code)
	}
	if e.detail != "" {
		text += ": " + e.detail
	}
	return text
}

// The texts for the log by failure, with a verb for the endpoint.
var (
	tokenTexts = map[Failure]string{
		Refused: "token endpoint %q gives no token", Unavailable: "token endpoint %q is not available",
		Unusable: "token endpoint %q gave a token that can't be used", SubjectRefused: "token endpoint %q does not take the caller's token",
	}
	loginTexts = map[Failure]string{
		Refused: "the login at %q is refused", Unavailable: "the login at %q is not available", Unusable: "the login at %q gave nothing that can be sent",
	}
	digestTexts = map[Failure]string{Unusable: "the challenge of %q can't be answered"}
)

// Unwrap returns the cause, if it holds no secrets.
func (e *TokenError) Unwrap() error { return e.cause }

// ToolMessage returns the text for the model, with advice. It names no host (P7).
func (e *TokenError) ToolMessage() string {
	const nothing = " Nothing was sent to the service."
	switch {
	case e.advice != "":
		return e.advice
	case e.Kind == Digest:
		return "The service wants a digest of a kind that the gateway does not make, so it refused the call." +
			" Repeating it does not help: tell the user that the operator of the gateway must repair the credential."
	case e.Kind == LoginRequest && e.Failure == Unavailable:
		return "The login of the service can't be reached or is busy." + nothing + " Try again in a minute; if that does not help, tell the user that it is down."
	case e.Kind == LoginRequest:
		return "The gateway can't log in to the service." + nothing +
			" Repeating the call does not help: tell the user that the operator of the gateway must repair the credential."
	case e.Failure == NoCaller:
		return "The service wants to know on whose behalf it is called, and this call has no user." + nothing +
			" Repeating it does not help: tell the user to log in to the gateway."
	case e.Failure == Unavailable:
		return "The authorization server that gives access to the service can't be reached or is busy." + nothing +
			" Try again in a minute; if that does not help, tell the user that it is down."
	case e.Failure == SubjectRefused, e.Failure == Refused && e.Kind == TokenExchange && (e.Code == "invalid_request" || e.Code == "interaction_required"):
		return "The authorization server gives the user no access to the service." + nothing +
			" Tell the user to log in to the gateway again; if that does not help, the user may lack the permission."
	case e.Failure == Refused && e.Kind == TokenExchange && (e.Code == "invalid_scope" || e.Code == "access_denied"):
		return "The user lacks a permission that the service needs." + nothing +
			" Repeating the call does not help: tell the user to ask for the permission."
	}
	return "The gateway gets no access to the service from the authorization server." + nothing +
		" Repeating the call does not help: tell the user that the operator of the gateway must repair the credential."
}
