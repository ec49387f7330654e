package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Kind is the kind of a failure. The set is closed, so it can label a metric.
type Kind uint8

// Kinds of [Error].
const (
	// Timeout means that the service did not send a complete response in time.
	Timeout Kind = iota + 1
	// Canceled means that the caller canceled the call.
	Canceled
	// Connect means that no connection could be made; nothing was sent.
	Connect
	// TLS means that the service has no valid certificate or no TLS; nothing was sent.
	TLS
	// Refused means that the SSRF protection rejected the address; nothing was sent.
	Refused
	// Credential means that the credential for the service could not be obtained; nothing was sent.
	Credential
	// TooLarge means that the response exceeds the limit on size or on compression ratio.
	TooLarge
	// Truncated means that the connection ended before the response did.
	Truncated
	// Protocol means that the response is not valid HTTP.
	Protocol
	// Overloaded means that the bulkhead was full; nothing was sent.
	Overloaded
	// BreakerOpen means that the circuit breaker is open; nothing was sent.
	BreakerOpen
	// ProxyFailed means that the proxy gave no connection to the service; nothing was sent to the service.
	ProxyFailed
)

// String returns the kind as a metric label.
func (k Kind) String() string {
	switch k {
	case Timeout:
		return "timeout"
	case Canceled:
		return "canceled"
	case Connect:
		return "connect"
	case TLS:
		return "tls"
	case Refused:
		return "refused"
	case Credential:
		return "credential"
	case TooLarge:
		return "too_large"
	case Truncated:
		return "truncated"
	case Protocol:
		return "protocol"
	case Overloaded:
		return "overloaded"
	case BreakerOpen:
		return "open"
	case ProxyFailed:
		return "proxy"
	}
	return "unknown"
}

// Error is the error of a failed call, from [Client.Do] or from reading the response body.
type Error struct {
	// Kind is the kind of the failure.
	Kind Kind
	// API is the configured name of the service.
	API string
	// Err is the cause, for the log only: it may name hosts and addresses.
	Err error
	// RetryAfter is the time after which a retry may succeed; 0 if unknown.
	RetryAfter time.Duration
	// Size is the size in bytes of a response that is too large, and Limit the limit that it exceeds. Size is 0 if the service does not
	// declare it, Limit if the response exceeds the compression ratio.
	Size, Limit int64

	unprocessed     bool // the service declares that it has not processed the request
	seen            bool // the service may have processed an earlier attempt of the same call
	reauthenticated bool // the service answered an attempt with 401, and the credential retried it
}

// Error returns the text for the log.
func (e *Error) Error() string { return fmt.Sprintf("call API %q: %s: %v", e.API, e.Kind, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether the call timed out, as in net.Error.
func (e *Error) Timeout() bool { return e.Kind == Timeout }

// NotSent reports whether it is certain that the service has not processed the request, or has
// rejected it only for its credential, so that a retry is safe for any method.
func (e *Error) NotSent() bool { return (e.neverSent() || e.unprocessed) && !e.seen }

// neverSent reports whether nothing was sent in the last attempt.
func (e *Error) neverSent() bool {
	switch e.Kind {
	case Connect, TLS, Refused, Credential, Overloaded, BreakerOpen, ProxyFailed:
		return true
	default:
		return false
	}
}

// ToolMessage returns the text for the model: the failure, with advice. It contains no other name
// than the API's configured one (P7). How to ask for less than what is too large depends on the tool, and is not part of it.
func (e *Error) ToolMessage() string { return e.ToolMessageFor(false) }

// ToolMessageFor is ToolMessage for a call whose method is safe (RFC 9110 section 9.2.1), which
// changes nothing and can be repeated, or not.
func (e *Error) ToolMessageFor(safe bool) string {
	text := e.message(safe)
	switch {
	case e.seen && safe:
		text = strings.Replace(text, nothingSent, "It may have got the same call a moment ago, which changes nothing.", 1)
	case e.seen:
		text = strings.Replace(text, nothingSent, "It may have got the same call a moment ago: if that changes data, look before you repeat it.", 1)
	case e.reauthenticated:
		text = strings.Replace(text, nothingSent, "It refused the call for its credential, and nothing was sent to it with a new one.", 1)
	}
	return text
}

// nothingSent is part of the message of all kinds for which neverSent is true.
const nothingSent = "Nothing was sent to it."

// changedNothing is part of the messages of safe calls.
const changedNothing = "The call changed nothing and can be repeated."

// message is ToolMessageFor for a call that was sent once.
func (e *Error) message(safe bool) string {
	service := "The service"
	if e.API != "" {
		service = fmt.Sprintf("The service %q", e.API)
	}
	switch {
	case !safe:
	case e.Kind == Timeout:
		return service + " did not answer in time. " + changedNothing + " Ask for less, or try again later."
	case e.Kind == Canceled:
		return "The call was canceled before the answer came. " + changedNothing
	case e.Kind == TooLarge:
		return service + " sent an answer that is too large. " + e.excess() + " The call changed nothing."
	case e.Kind == Truncated:
		return service + " broke off before its answer was complete. " + changedNothing
	case e.Kind == Protocol:
		return service + " sent an answer that the gateway can't read. The call changed nothing. Repeating it is not likely to help: tell the user that the service does not answer as it should."
	}
	switch e.Kind {
	case Timeout:
		return service + " did not answer in time. The call may have taken effect all the same: if it changes data, look before you repeat it. If it reads data, ask for less or try again later."
	case Canceled:
		return "The call was canceled before the answer came. It may have taken effect all the same: if it changes data, look before you repeat it."
	case Connect:
		return service + " can't be reached. Nothing was sent to it. Try again in a minute; if that does not help, tell the user that the service is down."
	case ProxyFailed:
		return service + " can't be reached: the proxy on the way to it gives no connection. Nothing was sent to it. Try again in a minute; if that does not help, tell the user that the operator of the gateway must look at the proxy."
	case TLS:
		return service + " can't be reached securely. Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must look at the service's certificate."
	case Refused:
		return service + " stands at an address that the gateway does not call. Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must allow the address."
	case Credential:
		return "The gateway has no working credential for " + lowerFirst(service) + ". Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must repair the credential."
	case TooLarge:
		return service + " sent an answer that is too large. " + e.excess() + " The call may have taken effect."
	case Truncated:
		return service + " broke off before its answer was complete. The call may have taken effect all the same: if it changes data, look before you repeat it. If it reads data, try again."
	case Protocol:
		return service + " sent an answer that the gateway can't read. The call may have taken effect all the same. Repeating it is not likely to help: tell the user that the service does not answer as it should."
	case Overloaded:
		return service + " is busy: as many calls to it as the gateway allows are under way. Nothing was sent to it. " + retryAdvice(e.RetryAfter)
	case BreakerOpen:
		return service + " has failed too often just now, so the gateway gives it a pause. Nothing was sent to it. " + retryAdvice(e.RetryAfter) +
			" If that does not help, tell the user that the service is down."
	}
	return service + " could not be called."
}

// excess describes the size of a response that is too large.
func (e *Error) excess() string {
	switch {
	case e.Size > 0:
		return fmt.Sprintf("It has %d bytes, and the limit is %d (max_answer).", e.Size, e.Limit)
	case e.Limit > 0:
		return fmt.Sprintf("It has more than %d bytes, which is the limit (max_answer).", e.Limit)
	}
	return "It is compressed more than the limit allows (limits.max_ratio)."
}

// retryAdvice returns the advice when to retry, in whole seconds.
func retryAdvice(wait time.Duration) string {
	if seconds := int64(math.Ceil(wait.Seconds())); seconds > 1 {
		return fmt.Sprintf("Try again in %d seconds.", seconds)
	}
	return "Try again in 1 second."
}

// lowerFirst converts the beginning of a sentence for use within one.
func lowerFirst(service string) string { return "t" + service[1:] }

// classifier wraps the transport and converts its errors to [*Error], so that all other errors are
// known to be the credential's.
type classifier struct {
	name string
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (c classifier) RoundTrip(req *http.Request) (*http.Response, error) {
	observed(req)
	resp, err := c.next.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	e := &Error{Kind: sendKind(req.Context(), err), API: c.name, Err: err}
	e.unprocessed, e.reauthenticated = e.Kind == Truncated && isUnprocessed(err), isReauthenticated(req)
	return nil, e
}

// sendKind returns the kind of an error before the response header was read.
func sendKind(ctx context.Context, err error) Kind {
	var dial *dialError
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Canceled
	case ctx.Err() != nil:
		return Timeout
	case errors.Is(err, context.Canceled): // but the call is not canceled: the resendGuard of protocols.preventReplay
		return Truncated
	case errors.As(err, &dial):
		return dial.kind
	case errors.As(err, &timeout) && timeout.Timeout():
		return Timeout
	case isLost(err):
		return Truncated
	}
	return Protocol
}

// closedIdle is the text of an unexported error of net/http: the service closed an idle connection
// at the moment in which it was used.
const closedIdle = "http: server closed idle connection"

// isLost reports whether the connection was lost.
func isLost(err error) bool {
	var op *net.OpError
	return err.Error() == closedIdle || isLostHTTP2(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, errWritten) || errors.As(err, &op)
}

// headError returns the error of Do for an error of the chain.
func (c *Client) headError(ctx context.Context, err error) *Error {
	// Not errors.As: the credential's error may wrap an Error of another client, that of its
	// authorization server, which is not about this service.
	e, own := err.(*Error) //nolint:errorlint // see above
	switch {
	case own:
		return e
	case errors.Is(ctx.Err(), context.Canceled):
		return &Error{Kind: Canceled, API: c.name, Err: err}
	case ctx.Err() != nil:
		return &Error{Kind: Timeout, API: c.name, Err: err}
	}
	return &Error{Kind: Credential, API: c.name, Err: err}
}

// bodyError returns the error for a failed read of the body. Since the header was valid, the
// connection was lost unless the decoder reports something else.
func (c *Client) bodyError(ctx context.Context, err error) *Error {
	e := &Error{Kind: Truncated, API: c.name, Err: err}
	var broken *corruptError
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind = Canceled
	case ctx.Err() != nil:
		e.Kind = Timeout
	case errors.As(err, &broken):
		e.Kind = Protocol
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Kind = Timeout
	}
	return e
}
