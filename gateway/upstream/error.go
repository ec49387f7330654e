package upstream

import "fmt"

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
	// TLS: the connection could not be secured; nothing was sent.
	TLS
	// Refused: the address is one that the gateway does not call; nothing was sent.
	Refused
	// Credential: the gateway's credential for the service could not be made; nothing was sent.
	Credential
	// TooLarge: the answer is over the limit on size or on compression ratio.
	TooLarge
	// Truncated: the connection ended before the answer did.
	Truncated
	// Protocol: the answer is not HTTP as the gateway understands it.
	Protocol
)

// String returns the kind as a metric label: lower case, one word or two joined by "_".
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
}

// Error returns the text for the log.
func (e *Error) Error() string { return fmt.Sprintf("call API %q: %s: %v", e.API, e.Kind, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// NotSent reports whether it is certain that the service never saw the request,
// so that repeating it is safe for every method.
func (e *Error) NotSent() bool {
	switch e.Kind {
	case Connect, TLS, Refused, Credential:
		return true
	}
	return false
}

// ToolMessage returns the text for the model: what happened and what to do. It
// names the service and nothing else (P7).
func (e *Error) ToolMessage() string { return "" }
