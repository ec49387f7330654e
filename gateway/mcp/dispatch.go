package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"

	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// lookup finds the method and fills in the request's decoded parts.
func (x *exchange) lookup(e *envelope) (entry, *Error) {
	m, ok := x.h.methods[string(jsonscan.Unquote(e.method))]
	if !ok || m.era != 0 && m.era != x.req.Era {
		err := &Error{Code: CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", clip(jsonscan.Unquote(e.method)))}
		if x.req.Era == Modern && string(e.method) == `"initialize"` {
			// For a client that knows only the legacy era this text is all that its user sees.
			err.Message += "; revision " + revision20260728 + " has no handshake, and " + strings.Join(legacyRevisions[:], ", ") +
				" are initialized without its headers"
		}
		return m, err
	}
	x.event.Method, x.req.Method = m.name, m.name
	x.cacheable = m.cacheable
	var err *Error
	if x.req.Name, err = optionalText("params.name", e.name); err != nil {
		return m, err
	}
	if x.req.Cursor, err = optionalText("params.cursor", e.cursor); err != nil {
		return m, err
	}
	if x.req.URI, err = optionalText("params.uri", e.uri); err != nil {
		return m, err
	}
	if x.req.TaskID, err = optionalText("params.taskId", e.taskID); err != nil {
		return m, err
	}
	if err = m.need(&x.req); err != nil {
		return m, err
	}
	switch jsonscan.KindOf(e.arguments) {
	case jsonscan.Object:
		x.req.Arguments = e.arguments
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
	x.req.Meta.TraceParent, _ = text(e.traceParent)
	x.req.Meta.TraceState, _ = text(e.traceState)
	x.req.Meta.Baggage, _ = text(e.baggage)
	return m, nil
}

// optionalText decodes a member that is a string if it is there. null counts as
// absent: some clients write it so.
func optionalText(where string, value []byte) (string, *Error) {
	switch kind := jsonscan.KindOf(value); kind {
	case 0, jsonscan.Null:
		return "", nil
	case jsonscan.String:
		return string(jsonscan.Unquote(value)), nil
	default:
		return "", InvalidParams("%s must be a string, got %s", where, kindName(kind))
	}
}

// clip keeps a client's text from filling an answer.
func clip(b []byte) string {
	const limit = 128 // bytes
	return truncate.Bytes(string(b), limit)
}

// call runs a method and makes an answer of whatever it does not answer itself.
func (x *exchange) call(ctx context.Context, m entry) (fault *Error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(v)
		}
		x.out.settle()
		fault = x.panicked("panic in a method", v)
		if x.out.unfinished() {
			// The answer is half out: only a broken connection tells the client.
			panic(http.ErrAbortHandler)
		}
	}()
	err := x.admit(ctx, m)
	if err == nil {
		err = m.serve(ctx, &x.req, &x.reply)
	}
	if x.reply.answered && (err == nil || errors.Is(err, ErrAsked)) {
		return nil
	}
	x.out.settle()
	var e *Error
	switch {
	case x.out.err == nil && (IsEnding(ctx) || IsEnding(x.req.HTTP.Context())):
		if errors.As(err, &e) {
			return e
		}
		return ending()
	case x.out.err != nil || x.req.HTTP.Context().Err() != nil:
		// Nobody is left to read an answer, and none may be sent (2026-07-28
		// streamable-http, Cancellation).
		if err != nil && x.out.err == nil && !errors.Is(err, context.Canceled) && !errors.As(err, &e) {
			x.h.o.Logger.LogAttrs(ctx, slog.LevelError, "a method failed, and its client has left", slog.String("method", m.name), slog.Any("error", err))
		}
		x.event.Code = CodeCancelled
		x.out.status, x.out.sent = statusClientGone, true
		return nil
	case err == nil:
		return x.internal("a method returned without an answer", 0)
	case x.reply.answered:
		x.h.o.Logger.LogAttrs(ctx, slog.LevelError, "a method failed after its answer", slog.String("method", m.name), slog.Any("error", err))
		return nil
	case errors.Is(context.Cause(ctx), errCancelled):
		return &Error{Code: CodeCancelled, Message: "cancelled by notifications/cancelled"}
	case errors.As(err, &e):
		return e
	}
	return x.internal("a method failed", 0, slog.Any("error", err))
}

// admit asks whether the request may be served. The handshake always is: who can't even
// begin does not know what to wait for.
func (x *exchange) admit(ctx context.Context, m entry) error {
	if x.h.o.Admit == nil || IsHandshake(m.name) {
		return nil
	}
	return x.h.o.Admit(ctx, &x.req, &x.reply)
}

// hear asks whether what wants no answer may be taken: a notification, a response, the
// end of a session. It is called before anything is looked up for it.
func (x *exchange) hear(what string) *Error {
	if x.h.o.Admit == nil || IsHandshake(what) {
		return nil
	}
	x.req.Method = what
	err := x.h.o.Admit(x.req.HTTP.Context(), &x.req, &x.reply)
	var e *Error
	if err == nil || errors.As(err, &e) {
		return e
	}
	return x.internal("a message could not be admitted", 0, slog.Any("error", err))
}

// panicked makes the answer to a panic, in the goroutine in which it is recovered.
func (x *exchange) panicked(what string, v any) *Error {
	x.event.Panicked = true
	// The value may hold arguments, so only its type is logged unless the runtime
	// made it; the stack holds addresses (O10).
	cause := fmt.Sprintf("%T", v)
	if e, ok := v.(runtime.Error); ok {
		cause = e.Error()
	}
	return x.internal(what, 0, slog.String("panic", cause), slog.String("stack", string(debug.Stack())))
}

// listen goes on with a stream of changes to its end.
func (x *exchange) listen() {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		x.out.settle()                 // else what keeps the stream alive would go on writing
		if v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			x.event.Code = x.panicked("panic in a stream of changes", v).Code
		}
		panic(http.ErrAbortHandler) // only a broken connection tells the client
	}()
	_ = x.greet() // which is found in the stream
	x.listens.run(x.req.HTTP.Context())
	if x.event.Panicked {
		panic(http.ErrAbortHandler)
	}
}

// greet sends what goes first on a stream of changes, if that is still to be done. A panic becomes an error of the stream, as those of
// the connection are: run has to come all the same, since it gives back what the stream holds.
func (x *exchange) greet() (err error) {
	begin := x.listens.begin
	if begin == nil {
		return nil
	}
	x.listens.begin = nil
	defer func() {
		if v := recover(); v != nil {
			x.event.Code = x.panicked("panic at the beginning of a stream of changes", v).Code
			x.out.live.mu.Lock()
			defer x.out.live.mu.Unlock()
			x.out.err, err = errBroken, errBroken
		}
	}()
	return begin()
}

// statusClientGone is reported, never sent: the client left before the answer.
const statusClientGone = 499

// internal makes the answer to what is our own fault: a reference for the client,
// the cause for the log.
func (x *exchange) internal(what string, status int, attrs ...slog.Attr) *Error {
	reference := NewReference()
	x.h.o.Logger.LogAttrs(x.req.HTTP.Context(), slog.LevelError, "internal error", append(attrs,
		slog.String("what", what), slog.String("reference", reference), slog.String("method", x.event.Method))...)
	return &Error{Code: CodeInternal, Message: "internal error, reference " + reference, HTTPStatus: status}
}
