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

// Kind says in which way a call failed. The set is closed, so it can label a
// metric.
type Kind uint8

// The kinds of [Error].
const (
	// Timeout: the service did not answer, or not to the end, in time.
	Timeout Kind = iota + 1
	// Canceled: the caller went away.
	Canceled
	// Connect: no connection could be made; nothing was sent.
	Connect
	// TLS: the service did not prove its identity, or speaks no TLS; nothing was sent.
	TLS
	// Refused: the address is one that the gateway does not call; nothing was sent.
	Refused
	// Credential: the credential for the service could not be made; nothing was sent.
	Credential
	// TooLarge: the answer is over the limit on size or on compression ratio.
	TooLarge
	// Truncated: the connection ended before the answer did.
	Truncated
	// Protocol: the answer is not HTTP as the gateway understands it.
	Protocol
	// Overloaded: as many calls as may be were under way; nothing was sent.
	Overloaded
	// BreakerOpen: the service fails so often that it is left alone; nothing was sent.
	BreakerOpen
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
	}
	return "unknown"
}

// Error is what a failed call returns, from [Client.Do] or from reading the
// body of an answer.
type Error struct {
	// Kind is the way in which the call failed.
	Kind Kind
	// API is the configured name of the service.
	API string
	// Err is the cause, for the log only: it may name hosts and addresses.
	Err error
	// RetryAfter is the time after which the same call may go well; 0: nobody knows.
	RetryAfter time.Duration

	unsent  bool // the service says that it has not looked at the request
	seen    bool // it may have looked at an earlier attempt of the same call
	renewed bool // it has answered one with 401, and the credential has made it again
}

// Error returns the text for the log.
func (e *Error) Error() string { return fmt.Sprintf("call API %q: %s: %v", e.API, e.Kind, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether time ran out, as in net.Error.
func (e *Error) Timeout() bool { return e.Kind == Timeout }

// NotSent reports whether it is certain that the service never saw the request,
// or has refused it for its credential alone, so that repeating it is safe
// whatever its method.
func (e *Error) NotSent() bool { return (e.neverSent() || e.unsent) && !e.seen }

// neverSent reports whether nothing was sent in the last attempt.
func (e *Error) neverSent() bool {
	switch e.Kind {
	case Connect, TLS, Refused, Credential, Overloaded, BreakerOpen:
		return true
	default:
		return false
	}
}

// ToolMessage returns the text for the model: what happened, and what to do
// about it. It names the service as the configuration does, and nothing else (P7).
func (e *Error) ToolMessage() string {
	text := e.message()
	switch {
	case e.seen:
		text = strings.Replace(text, nothingSent, "It may have got the same call a moment ago: if that changes data, look before you repeat it.", 1)
	case e.renewed:
		text = strings.Replace(text, nothingSent, "It refused the call for its credential, and nothing was sent to it with a new one.", 1)
	}
	return text
}

// nothingSent stands in message for all kinds of which neverSent is true.
const nothingSent = "Nothing was sent to it."

// message is ToolMessage of a call that was sent once.
func (e *Error) message() string {
	service := "The service"
	if e.API != "" {
		service = fmt.Sprintf("The service %q", e.API)
	}
	switch e.Kind {
	case Timeout:
		return service + " did not answer in time. The call may have taken effect all the same: if it changes data, look before you repeat it. If it reads data, ask for less or try again later."
	case Canceled:
		return "The call was canceled before the answer came. It may have taken effect all the same: if it changes data, look before you repeat it."
	case Connect:
		return service + " can't be reached. Nothing was sent to it. Try again in a minute; if that does not help, tell the user that the service is down."
	case TLS:
		return service + " can't be reached securely. Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must look at the service's certificate."
	case Refused:
		return service + " stands at an address that the gateway does not call. Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must allow the address."
	case Credential:
		return "The gateway has no working credential for " + lower(service) + ". Nothing was sent to it. Repeating the call does not help: tell the user that the operator of the gateway must repair the credential."
	case TooLarge:
		return service + " sent an answer that is too large. The call may have taken effect. Ask for less: use filters, a page size or fewer fields if the tool has arguments for them."
	case Truncated:
		return service + " broke off before its answer was complete. The call may have taken effect all the same: if it changes data, look before you repeat it. If it reads data, try again."
	case Protocol:
		return service + " sent an answer that the gateway can't read. The call may have taken effect all the same. Repeating it is not likely to help: tell the user that the service does not answer as it should."
	case Overloaded:
		return service + " is busy: as many calls to it as the gateway allows are under way. Nothing was sent to it. " + comeAgain(e.RetryAfter)
	case BreakerOpen:
		return service + " has failed too often just now, so the gateway gives it a pause. Nothing was sent to it. " + comeAgain(e.RetryAfter) +
			" If that does not help, tell the user that the service is down."
	}
	return service + " could not be called."
}

// comeAgain says when to try again, in whole seconds.
func comeAgain(wait time.Duration) string {
	if seconds := int64(math.Ceil(wait.Seconds())); seconds > 1 {
		return fmt.Sprintf("Try again in %d seconds.", seconds)
	}
	return "Try again in 1 second."
}

// lower makes the start of a sentence its middle.
func lower(service string) string { return "t" + service[1:] }

// classifier stands around the transport and gives its errors their kinds, so
// that what has none comes from the credential.
type classifier struct {
	name string
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (c classifier) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	e := &Error{Kind: sendKind(req.Context(), err), API: c.name, Err: err}
	e.unsent, e.renewed = e.Kind == Truncated && isUnprocessed(err), isRenewed(req)
	return nil, e
}

// sendKind says what went wrong before the answer's head was read.
func sendKind(ctx context.Context, err error) Kind {
	var dial *dialError
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return Canceled
	case ctx.Err() != nil:
		return Timeout
	case errors.Is(err, context.Canceled): // and yet the call goes on: the watch of protocols.once
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

// closedIdle is the text of an error that net/http does not export: the service
// ended a connection that it had kept, at the moment in which it was used.
const closedIdle = "http: server closed idle connection"

// isLost reports whether the connection broke.
func isLost(err error) bool {
	var op *net.OpError
	return err.Error() == closedIdle || isLostHTTP2(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, errWritten) || errors.As(err, &op)
}

// headError returns the error of Do for what the chain returned.
func (c *Client) headError(ctx context.Context, err error) *Error {
	// Not errors.As: what the credential reports may hold the error of another
	// client, that of its authorization server, which is not about this service.
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

// bodyError returns the error for what broke while the body was read. The head
// was fine, so what is left is a connection that broke, unless the decoder says
// otherwise.
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
