package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// lookupMethod finds the method and decodes the request's members.
func (x *exchange) lookupMethod(e *envelope) (*servedMethod, *Error) {
	m := x.h.methods[string(jsonscan.Unquote(e.method))]
	if m == nil || m.family != 0 && m.family != x.req.Family {
		err := &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", shorten(jsonscan.Unquote(e.method)))}
		if x.req.Family == Stateless && string(e.method) == `"initialize"` {
			// A client that knows only the legacy revisions shows its user nothing but this text.
			err.Message += "; revision " + revision20260728 + " has no handshake, and " + strings.Join(legacyRevisions[:], ", ") +
				" are initialized without its headers"
		}
		return nil, err
	}
	x.event.Method, x.req.Method = m.name, m.name
	x.cacheable = m.cacheable
	x.req.Meta.TraceParent, _ = decodeString(e.traceParent)
	x.req.Meta.TraceState, _ = decodeString(e.traceState)
	x.req.Meta.Baggage, _ = decodeString(e.baggage)
	var err *Error
	if x.req.Name, err = optionalString("params.name", e.name); err != nil {
		return m, err
	}
	if x.req.Cursor, err = optionalString("params.cursor", e.cursor); err != nil {
		return m, err
	}
	if x.req.URI, err = optionalString("params.uri", e.uri); err != nil {
		return m, err
	}
	if x.req.TaskID, err = optionalString("params.taskId", e.taskID); err != nil {
		return m, err
	}
	if m.check != nil {
		if err = m.check(&x.req); err != nil {
			return m, err
		}
	}
	switch objectKind(e.arguments) {
	case jsonscan.Object:
		if x.req.Arguments = e.arguments; isEmptyList(e.arguments) {
			x.req.Arguments = []byte("{}")
		}
	case 0, jsonscan.Null:
	default:
		return m, InvalidParams("params.arguments must be an object, got %s", kindName(jsonscan.KindOf(e.arguments)))
	}
	switch jsonscan.KindOf(e.progressToken) {
	case jsonscan.String, jsonscan.Number:
		x.req.Meta.ProgressToken = e.progressToken
	case 0, jsonscan.Null:
	default:
		return m, InvalidParams("params._meta.progressToken must be a string or a number")
	}
	return m, nil
}

// optionalString decodes a member that is a string if it is present. null counts as absent, since some clients write it
// so.
func optionalString(where string, value []byte) (string, *Error) {
	switch kind := jsonscan.KindOf(value); kind {
	case 0, jsonscan.Null:
		return "", nil
	case jsonscan.String:
		return string(jsonscan.Unquote(value)), nil
	default:
		return "", InvalidParams("%s must be a string, got %s", where, kindName(kind))
	}
}

// shorten bounds text of the client that is quoted in a response.
func shorten(b []byte) string {
	const limit = 128 // bytes
	return text.Truncate(string(b), limit)
}

// call runs a method and writes the response that the method did not write itself.
func (x *exchange) call(ctx context.Context, m *servedMethod) (fault *Error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		x.out.endEvents()
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(v)
		}
		fault = x.panicError("panic in a method", v)
		if x.out.unfinished() {
			// Part of the response has been sent, so only a closed connection tells the client.
			panic(http.ErrAbortHandler)
		}
	}()
	err := x.admit(ctx, m)
	if err == nil {
		err = x.runMethod(ctx, m)
	}
	if x.reply.answered && (err == nil || errors.Is(err, errInputRequired)) {
		return nil
	}
	x.out.endEvents()
	var e *Error
	switch {
	case x.out.err == nil && (IsShutdown(ctx) || IsShutdown(x.req.HTTP.Context())):
		if errors.As(err, &e) {
			return e
		}
		return shutdownError()
	case x.out.err != nil || x.req.HTTP.Context().Err() != nil:
		// The client has left, and no response may be sent (2026-07-28 streamable-http, Cancellation).
		if err != nil && x.out.err == nil && !errors.Is(err, context.Canceled) && !errors.As(err, &e) {
			x.h.o.Logger.LogAttrs(ctx, slog.LevelError, "a method failed after its client had disconnected", slog.String("method", m.name), slog.Any("error", err))
		}
		x.event.Code = CodeCancelled
		x.out.status, x.out.headerSent = statusClientClosed, true
		return nil
	case err == nil:
		return x.internalError("a method returned without an answer", 0)
	case x.reply.answered:
		x.h.o.Logger.LogAttrs(ctx, slog.LevelError, "a method failed after its response was sent", slog.String("method", m.name), slog.Any("error", err))
		return nil
	case errors.Is(context.Cause(ctx), errCancelled):
		return &Error{Code: CodeCancelled, Message: "cancelled by notifications/cancelled"}
	case errors.As(err, &e):
		return e
	}
	return x.internalError("a method failed", 0, slog.Any("error", err))
}

// runMethod runs a method. If it needs input, the request ends with the input requests, or the method runs again with the responses. It runs
// again, too, if it can't get them, so that it ends what it has begun.
func (x *exchange) runMethod(ctx context.Context, m *servedMethod) error {
	for {
		err := m.serve(ctx, &x.req, &x.reply)
		if err == nil { // fast path without allocations
			return nil
		}
		var need *InputRequired
		if !errors.As(err, &need) {
			return err
		}
		if failed := x.input.Err(); failed != nil {
			return failed
		}
		responses, err := x.reply.elicit(ctx, need)
		if errors.Is(err, errInputRequired) {
			return err
		}
		x.input = &Input{state: need.State, responses: responses, failed: err}
		x.req.Name, x.req.Arguments = x.named()
	}
}

// named returns the name and the arguments of the request as they were sent, since a method may have changed them.
func (x *exchange) named() (name string, arguments json.RawMessage) {
	name, _ = decodeString(jsonscan.Lookup(x.req.Params, "name"))
	arguments = jsonscan.Lookup(x.req.Params, "arguments")
	switch {
	case objectKind(arguments) != jsonscan.Object:
		return name, nil
	case isEmptyList(arguments):
		return name, json.RawMessage("{}")
	}
	return name, arguments
}

// admit asks Options.Admit about a request. The handshake is always admitted: a client that can't initialize does not
// know how long to wait.
func (x *exchange) admit(ctx context.Context, m *servedMethod) error {
	if x.h.o.Admit == nil || m.handshake {
		return nil
	}
	return x.h.o.Admit(ctx, &x.req, &x.reply)
}

// admitMessage asks Options.Admit about a message without a response: a notification, a response, the end of a session.
// It is called before any state is looked up.
func (x *exchange) admitMessage(what string) *Error {
	if x.h.o.Admit == nil || IsHandshake(what) {
		return nil
	}
	x.req.Method = what
	err := x.h.o.Admit(x.req.HTTP.Context(), &x.req, &x.reply)
	var e *Error
	if err == nil || errors.As(err, &e) {
		return e
	}
	return x.internalError("a message could not be admitted", 0, slog.Any("error", err))
}

// panicError returns the response to a panic, in the goroutine that has recovered it.
func (x *exchange) panicError(what string, v any) *Error {
	x.event.Panicked = true
	// The panic value may hold arguments, so only its type is logged unless the runtime made it; the stack holds
	// addresses only (O10).
	cause := fmt.Sprintf("%T", v)
	if e, ok := v.(runtime.Error); ok {
		cause = e.Error()
	}
	return x.internalError(what, 0, slog.String("panic", cause), slog.String("stack", string(debug.Stack())))
}

// runContinuation runs the continuation of the exchange to its end.
func (x *exchange) runContinuation() {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		x.out.endEvents()              // stops the keep-alive timer of the stream
		if v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			x.event.Code = x.panicError("panic in a stream of changes", v).Code
		}
		panic(http.ErrAbortHandler) // only a closed connection tells the client
	}()
	_ = x.sendFirst() // the error stays in the stream
	x.continuation.run(x.req.HTTP.Context())
	if x.event.Panicked {
		panic(http.ErrAbortHandler)
	}
}

// sendFirst sends the first message of the continuation, if that is still to be done. A panic becomes an error of the
// stream, as errors of the connection do: the continuation must run all the same, since it releases what the stream
// holds.
func (x *exchange) sendFirst() (err error) {
	begin := x.continuation.first
	if begin == nil {
		return nil
	}
	x.continuation.first = nil
	defer func() {
		if v := recover(); v != nil {
			x.event.Code = x.panicError("panic at the beginning of a stream of changes", v).Code
			x.out.sse.mu.Lock()
			defer x.out.sse.mu.Unlock()
			x.out.err, err = errBroken, errBroken
		}
	}()
	return begin()
}

// statusClientClosed is reported to Observe and never sent: the client left before the response.
const statusClientClosed = 499

// internalError logs a fault of the server and returns the error for the client; both have the same reference.
func (x *exchange) internalError(what string, status int, attrs ...slog.Attr) *Error {
	reference := NewReference()
	x.h.o.Logger.LogAttrs(x.req.HTTP.Context(), slog.LevelError, "internal error", append(attrs,
		slog.String("what", what), slog.String("reference", reference), slog.String("method", x.event.Method))...)
	return &Error{Code: CodeInternal, Message: "internal error, reference " + reference, HTTPStatus: status}
}
