package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Handler is the MCP endpoint. It must stand behind [Origins], and behind
// whatever authenticates the caller. It is safe for concurrent use.
type Handler struct {
	methods map[string]entry
	o       Options
	now     func() time.Time

	sealer  *sealer
	calls   *calls
	buffers buffers
	fixed   *fixedHeaders

	serverMeta []byte   // members of a modern result's _meta
	discover   []byte   // members of the result of server/discover
	initialize [][]byte // members of the result of initialize, by index of legacyRevisions
}

// NewHandler makes the endpoint. It starts no goroutine.
func NewHandler(methods Methods, o Options) *Handler {
	if o.MaxBody <= 0 {
		o.MaxBody = 1 << 20
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = 64
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 1 << 16
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Principal == nil {
		o.Principal = func(context.Context) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{
		o:      o,
		now:    o.Now,
		sealer: newSealer(o.SealKeys),
		calls:  &calls{max: o.MaxCalls, active: make(map[callKey]*activeCall)},
		fixed:  newFixedHeaders(),
	}
	h.describe()
	h.methods = h.table(methods)
	return h
}

// exchange is one HTTP request and its answer.
type exchange struct {
	h     *Handler
	req   Request
	reply Reply
	out   stream
	event Event

	cacheable bool // the result carries caching hints
}

// ServeHTTP answers one HTTP request to the endpoint.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := h.now()
	x := &exchange{h: h}
	x.req.HTTP = r
	x.reply.x = x
	x.out = stream{
		w: w, control: http.NewResponseController(w), pool: &h.buffers, fixed: h.fixed, http1: r.ProtoMajor == 1,
	}
	if h.o.Observe != nil {
		defer func() {
			x.event.HTTPStatus, x.event.ResponseBytes = x.out.status, x.out.size
			x.event.Era, x.event.Revision = x.req.Era, x.req.Revision
			x.event.Duration = h.now().Sub(start)
			h.o.Observe(r.Context(), x.event)
		}()
	}
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

func (x *exchange) serve() *Error {
	r := x.req.HTTP
	if r.ContentLength != 0 {
		// Also for a body that nobody will look at: net/http reads it before it answers.
		x.readDeadline(time.Now().Add(progress))
	}
	if err := checkSingletons(r.Header); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodPost:
		return x.post()
	case http.MethodDelete:
		return x.delete()
	default:
		return x.notAllowed()
	}
}

// notAllowed refuses all methods but POST and, of legacy clients, DELETE. A GET
// would open a stream of messages that this server does not send; the legacy
// revisions allow to say so (2025-11-25 transports, Listening for Messages).
func (x *exchange) notAllowed() *Error {
	allow := "POST"
	version, _ := first(x.req.HTTP.Header, headerVersion)
	if version < revision20260728 && x.h.o.Revoked != nil {
		allow = "POST, DELETE"
	}
	e := refusal(http.StatusMethodNotAllowed, "method %s is not allowed here", x.req.HTTP.Method)
	e.Header = http.Header{"Allow": {allow}}
	return e
}

// delete ends a legacy session.
func (x *exchange) delete() *Error {
	r := x.req.HTTP
	version, _ := first(r.Header, headerVersion)
	if version >= revision20260728 || x.h.o.Revoked == nil {
		return x.notAllowed()
	}
	x.req.Era = Legacy
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	ss, fault := x.h.resume(r.Context(), r.Header, x.h.o.Principal(r.Context()))
	if fault != nil {
		return fault
	}
	if err := x.h.o.Revoked.Revoke(r.Context(), ss.key(), ss.expiry); err != nil {
		return x.internal("ending a session failed", http.StatusServiceUnavailable, slog.Any("error", err))
	}
	x.out.empty(http.StatusNoContent)
	return nil
}

// post takes one JSON-RPC message.
func (x *exchange) post() *Error {
	r := x.req.HTTP
	if err := checkContent(r.Header); err != nil {
		return err
	}
	body, err := x.read()
	if err != nil {
		return err
	}
	x.event.RequestBytes = int64(len(body))
	e, err := open(body, x.h.o.MaxDepth)
	x.req.ID = e.id
	version, _ := first(r.Header, headerVersion)
	if err != nil {
		if version >= revision20260728 {
			x.req.Era = Modern
		}
		return err
	}
	x.out.event = e.id != nil && wantsEvents(r.Header)
	x.req.Era = classify(version, &e)
	x.req.Params = e.params
	if x.req.Era == Modern {
		return x.modern(&e)
	}
	return x.legacy(&e)
}

// modern serves a request of 2026-07-28: nothing but the request itself counts.
func (x *exchange) modern(e *envelope) *Error {
	h := x.req.HTTP.Header
	x.req.Revision = revision20260728
	if e.id == nil {
		// No notification is defined for clients on this transport, nor headers for
		// one; the only demand is that what is there agrees.
		if err := checkMirrors(h, e); err != nil {
			return err
		}
		return x.notification(e)
	}
	if err := checkModern(h, e); err != nil {
		return err
	}
	x.req.Client = clientCapabilities(e.metaCapabilities)
	x.req.Meta.LogLevel = logLevel(e.metaLogLevel)
	x.req.Meta.ClientInfo = e.metaClientInfo
	x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
	m, err := x.lookup(e)
	if err != nil {
		return err
	}
	return x.call(x.req.HTTP.Context(), m)
}

// legacy serves a request of a revision with sessions.
func (x *exchange) legacy(e *envelope) *Error {
	r := x.req.HTTP
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	if string(e.method) == `"initialize"` && e.id != nil {
		return x.begin(e)
	}
	ss, err := x.h.resume(r.Context(), r.Header, x.req.Principal)
	if err != nil {
		return err
	}
	x.req.Revision, x.req.Client = legacyRevisions[ss.revision], ss.capabilities
	if e.id == nil {
		if string(e.method) == `"notifications/cancelled"` {
			if id := jsonscan.Lookup(e.params, "requestId"); validID(id) {
				x.h.calls.cancel(newCallKey(&ss, id))
			}
		}
		return x.notification(e)
	}
	m, err := x.lookup(e)
	if err != nil {
		return err
	}
	// A disconnect is not a cancellation in these revisions; a notification is.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	defer x.h.calls.add(newCallKey(&ss, e.id), cancel)()
	return x.call(ctx, m)
}

// notification accepts a message that wants no answer (mcp-T7). A request that
// lacks its id is not one: running it would do what nobody can see the end of.
func (x *exchange) notification(e *envelope) *Error {
	if !bytes.HasPrefix(e.method, []byte(`"notifications/`)) {
		return invalidRequest("method %q needs an id", clip(jsonscan.Unquote(e.method)))
	}
	x.event.Method = knownNotification(e.method)
	x.out.empty(http.StatusAccepted)
	return nil
}

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
	switch jsonscan.KindOf(value) {
	case 0, jsonscan.Null:
		return "", nil
	case jsonscan.String:
		return string(jsonscan.Unquote(value)), nil
	}
	return "", InvalidParams("%s must be a string, got %s", where, kindName(jsonscan.KindOf(value)))
}

// clip keeps a client's text from filling an answer.
func clip(b []byte) []byte {
	const limit = 128
	if len(b) > limit {
		return append(bytes.Clone(b[:limit]), "..."...)
	}
	return b
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
		x.event.Panicked = true
		// The value may hold arguments, the stack holds only addresses (O10).
		fault = x.internal("panic in a method", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack())))
		if x.out.sent {
			// The answer is half out: only a broken connection tells the client.
			panic(http.ErrAbortHandler)
		}
	}()
	err := m.serve(ctx, &x.req, &x.reply)
	if err == nil && x.reply.answered {
		return nil
	}
	var e *Error
	switch {
	case x.out.err != nil || x.req.HTTP.Context().Err() != nil:
		// Nobody is left to read an answer, and none may be sent (2026-07-28
		// streamable-http, Cancellation).
		if err != nil && x.out.err == nil && !errors.Is(err, context.Canceled) && !errors.As(err, &e) {
			x.internal("internal error, of which nobody was told", 0, slog.Any("error", err))
		}
		x.event.Code = CodeCancelled
		x.out.status, x.out.sent = statusClientGone, true
		return nil
	case err == nil:
		return x.internal("a method returned without an answer", 0)
	case x.reply.answered:
		x.h.o.Logger.ErrorContext(ctx, "a method failed after its answer", slog.String("method", m.name), slog.Any("error", err))
		return nil
	case errors.Is(context.Cause(ctx), errCancelled):
		return &Error{Code: CodeCancelled, Message: "cancelled by notifications/cancelled"}
	case errors.As(err, &e):
		return e
	}
	return x.internal("internal error", 0, slog.Any("error", err))
}

// statusClientGone is reported, never sent: the client left before the answer.
const statusClientGone = 499

// internal makes the answer to what is our own fault: a reference for the client,
// the cause for the log.
func (x *exchange) internal(what string, status int, attrs ...any) *Error {
	reference := strings.ToLower(rand.Text()[:10])
	attrs = append(attrs, slog.String("reference", reference), slog.String("method", x.event.Method))
	x.h.o.Logger.ErrorContext(x.req.HTTP.Context(), what, attrs...)
	return &Error{Code: CodeInternal, Message: "internal error, reference " + reference, HTTPStatus: status}
}

// read reads the body. It is not pooled: a method may hand parts of it to another
// layer, and a part that outlives its request must never turn into another
// caller's data.
func (x *exchange) read() ([]byte, *Error) {
	r, limit := x.req.HTTP, x.h.o.MaxBody
	tooLarge := func() *Error {
		return refusal(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
	}
	if r.ContentLength > limit {
		return nil, tooLarge()
	}
	size := int64(4 << 10)
	if r.ContentLength >= 0 {
		size = r.ContentLength + 1 // room to see the end without another read
	}
	body := make([]byte, 0, size)
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge()
		case err == io.EOF: //nolint:errorlint // readers return it bare
			// From here on the connection is read to see whether the client is still there.
			x.readDeadline(time.Time{})
			return body, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			e := refusal(http.StatusRequestTimeout, "the body did not arrive: nothing came for %d s", progress/time.Second)
			e.Header = http.Header{"Connection": {"close"}}
			return nil, e
		case err != nil:
			return nil, refusal(http.StatusBadRequest, "the body can't be read")
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		x.readDeadline(time.Now().Add(progress))
	}
}

func (x *exchange) readDeadline(t time.Time) {
	_ = x.out.control.SetReadDeadline(t) // where there are no deadlines there is nothing to guard
}
