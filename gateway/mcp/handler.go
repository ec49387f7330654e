package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Handler is the MCP endpoint. It must stand behind [Origins], the authentication middleware, and a limit on how slowly
// a body may arrive. It is safe for concurrent use.
type Handler struct {
	methods map[string]*servedMethod
	o       Options
	now     func() time.Time

	sessionSealer *sessionSealer
	calls         *Calls
	sessionLevels sessionLevels
	requestStates *SealedHandles
	relaySealer   *SealedHandles
	reloadable    atomic.Pointer[ReloadableOptions]
	elicitations  pendingElicitations
	wakers        sync.Pool // of *waker
	buffers       bufferPool
	smallBuffers  bufferPool // for responses that are borrowed but for a few bytes
	headers       *headerValues
	stallTimeout  time.Duration // how long writing a response may stall (H7)
	readPatience  time.Duration // how long a client may read nothing before it counts as slow; see [SlowReaders]

	serverInfo atomic.Pointer[serverInfo]
}

// NewHandler returns a Handler for the methods. It starts no goroutine.
func NewHandler(methods Methods, o Options) *Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Principal == nil {
		o.Principal = func(context.Context) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnPanic == nil {
		o.OnPanic = func(string, any) {}
	}
	if o.ElicitationLimit == nil {
		o.ElicitationLimit = &ElicitationLimit{}
	}
	if o.Calls == nil {
		o.Calls = &Calls{}
	}
	h := &Handler{
		o:             o,
		now:           o.Now,
		sessionSealer: newSessionSealer(o.SealKeys),
		requestStates: newSealedHandles(o.SealKeys, requestStateLabel),
		relaySealer:   newSealedHandles(o.SealKeys, relayLabel),
		calls:         o.Calls,
		headers:       newHeaderValues(),
		stallTimeout:  10 * time.Second,

		readPatience: defaultReadPatience,
	}
	h.buffers.size, h.smallBuffers.size = bufferSize, smallBufferSize
	reloadable := o.bounded()
	h.reloadable.Store(&reloadable)
	h.SetServerInfo(ServerInfo{Name: o.Name, Title: o.Title}, o.Instructions)
	h.methods = h.servedMethods(methods)
	return h
}

// exchange is one HTTP request and its response.
type exchange struct {
	h     *Handler
	req   Request
	reply Reply
	out   responseWriter
	event Event

	session       session // set for legacy requests
	cacheable     bool    // the result carries caching hints
	batched       bool    // the request is one of a batch
	elicitedBytes int32   // bytes of the input responses of a legacy client
	// inputEnded is closed when the client sends nothing any more but may still read. It is nil if that can't be known.
	inputEnded <-chan struct{}

	input        *Input        // what the request brings to go on; nil until a method wants it
	continuation *continuation // nil if the response ends with the method
}

// ServeHTTP serves one HTTP request to the endpoint.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.newHTTPExchange(w, r).run((*exchange).serve)
}

// newHTTPExchange is newExchange for a request of net/http, whose write deadline (H7) it clears: that deadline is for
// responses that no exchange writes, and a call may take longer. On HTTP/2 it would end the stream, and TLS is unusable
// after a record that a deadline interrupts, such as the reply to a key update. In clear HTTP/1 it affects nothing but
// a write, before which another deadline is set.
func (h *Handler) newHTTPExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := h.newExchange(w, r)
	if !x.out.http1 || r.TLS != nil {
		x.out.setWriteDeadline(time.Time{})
	}
	return x
}

func (h *Handler) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{h: h}
	x.req.HTTP = r
	x.reply.x = x
	out := &x.out
	out.h, out.rw, out.controller, out.pool = h, w, http.NewResponseController(w), &h.buffers
	out.stallTimeout, out.sse.period, out.http1 = h.stallTimeout, h.reloadable.Load().KeepAlive, r.ProtoMajor == 1
	return x
}

// run answers by serve, or with the error it returns, and reports the event.
func (x *exchange) run(serve func(*exchange) *Error) {
	h := x.h
	var start time.Time
	if h.o.Observe != nil {
		start = h.now()
	}
	continues := false
	defer func() {
		if !continues {
			x.observe(start)
		}
	}()
	if err := serve(x); err != nil {
		x.writeError(err)
	}
	if x.continuation != nil {
		continues = true
		x.detach(start)
	}
}

// detach runs the continuation of the exchange, here or where [Options].RunAfterMiddleware puts it, and there in a
// goroutine of its own if the connection can be hijacked.
func (x *exchange) detach(start time.Time) {
	rest := func() {
		defer x.observe(start)
		x.runContinuation()
	}
	hijack := x.hijackStream
	if x.continuation.slowReader {
		hijack = x.hijackSlowReader
	}
	if run := x.h.o.RunAfterMiddleware; run != nil && run(x.req.HTTP.Context(), func() {
		if !hijack(rest) {
			rest()
		}
	}) {
		return
	}
	rest()
}

// observe reports the event to [Options].Observe.
func (x *exchange) observe(start time.Time) {
	h := x.h
	if h.o.Observe == nil {
		return
	}
	x.event.HTTPStatus, x.event.ResponseBytes = int(x.out.status), x.out.written
	x.event.Family, x.event.Revision = x.req.Family, x.req.Revision
	x.event.Duration = h.now().Sub(start)
	h.o.Observe(&x.req, x.event, x.reply.called())
}

func (x *exchange) serve() *Error {
	r := x.req.HTTP
	if err := checkSingleValueHeaders(r.Header); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodPost:
		return x.post()
	case http.MethodGet:
		return x.get()
	case http.MethodDelete:
		return x.endSession()
	default:
		return x.methodNotAllowed()
	}
}

// methodNotAllowed refuses every method but POST and, for legacy clients, those that are enabled: GET opens a session
// stream, DELETE ends a session. The revisions allow a 405 here (2025-11-25 transports).
func (x *exchange) methodNotAllowed() *Error {
	allow := "POST"
	if version, _ := headerValue(x.req.HTTP.Header, headerVersion); version < revision20260728 {
		if x.h.o.Broker != nil {
			allow += ", GET"
		}
		if x.h.o.Revocations != nil {
			allow += ", DELETE"
		}
	}
	e := httpError(http.StatusMethodNotAllowed, "method %s is not allowed here", x.req.HTTP.Method)
	e.Header = http.Header{"Allow": {allow}}
	return e
}

// endSession serves DELETE, which ends a legacy session.
func (x *exchange) endSession() *Error {
	r := x.req.HTTP
	version, _ := headerValue(r.Header, headerVersion)
	if version >= revision20260728 || x.h.o.Revocations == nil {
		return x.methodNotAllowed()
	}
	x.req.Family = Legacy
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	if err := x.admitMessage(http.MethodDelete); err != nil {
		return err
	}
	ss, fault := x.h.openSession(r.Context(), r.Header, x.req.Principal)
	if fault != nil {
		return fault
	}
	if err := x.h.o.Revocations.Revoke(r.Context(), x.req.Principal, ss.key(), ss.until()); err != nil {
		return x.internalError("ending a session failed", http.StatusServiceUnavailable, slog.Any("error", err))
	}
	x.h.forgetSession(ss.id)
	x.session = ss
	x.relay(relayMessage{Kind: relayEnd})
	x.out.writeStatus(http.StatusNoContent)
	return nil
}

// post serves one JSON-RPC message.
func (x *exchange) post() *Error {
	r := x.req.HTTP
	if err := checkContentType(r.Header); err != nil {
		return err
	}
	body, err := x.readBody()
	if err != nil {
		return err
	}
	x.event.RequestBytes = int64(len(body))
	if isBatch(body) {
		return x.batch(body)
	}
	e, err := parseMessage(body, x.h.reloadable.Load().MaxDepth)
	x.req.ID = e.id
	version, _ := headerValue(r.Header, headerVersion)
	if e.isResponse && version < revision20260728 {
		return x.postResponse(body)
	}
	if err != nil {
		if version >= revision20260728 {
			x.req.Family = Stateless
		}
		return err
	}
	x.out.event = e.id != nil && prefersEventStream(r.Header)
	x.req.Family = classify(version, &e)
	x.req.Params = e.params
	if x.req.Family == Stateless {
		return x.serveStateless(&e)
	}
	return x.serveLegacy(&e)
}

// serveStateless serves a message of 2026-07-28, which depends on nothing but itself.
func (x *exchange) serveStateless(e *envelope) *Error {
	h := x.req.HTTP.Header
	x.req.Revision = revision20260728
	if e.id == nil {
		// No notification is defined for clients on this transport, nor are headers for one; headers that are there
		// must agree with the body.
		if err := checkMirroredHeaders(h, e); err != nil {
			return err
		}
		x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
		if err := x.admitMessage(e.admissionName()); err != nil {
			return err
		}
		return x.acceptNotification(e)
	}
	if err := checkStateless(h, e); err != nil {
		return err
	}
	return x.callStateless(e)
}

// callStateless serves a stateless request whose envelope has been checked.
func (x *exchange) callStateless(e *envelope) *Error {
	x.req.Client = clientCapabilities(e.metaCapabilities)
	x.req.Meta.LogLevel = parseLogLevel(e.metaLogLevel)
	x.req.Meta.ClientInfo = e.metaClientInfo
	x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
	m, err := x.lookupMethod(e)
	if err != nil {
		return err
	}
	return x.call(x.req.HTTP.Context(), m)
}

// serveLegacy serves a message of a revision with sessions.
func (x *exchange) serveLegacy(e *envelope) *Error {
	r := x.req.HTTP
	if err := checkLegacyVersion(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	if string(e.method) == `"initialize"` && e.id != nil {
		return x.initialize(e)
	}
	if e.id == nil {
		if err := x.admitMessage(e.admissionName()); err != nil {
			return err
		}
	}
	if !x.useImplicitSession(e) {
		ss, err := x.h.openSession(r.Context(), r.Header, x.req.Principal)
		if err != nil {
			return err
		}
		x.useSession(ss)
	}
	if e.id == nil {
		x.handleCancelled(e)
		return x.acceptNotification(e)
	}
	m, err := x.lookupMethod(e)
	if err != nil {
		return err
	}
	return x.callLegacy(e, m)
}

// callLegacy runs the method of a legacy request. In these revisions a disconnect does not cancel a call; a
// notification does.
func (x *exchange) callLegacy(e *envelope, m *servedMethod) *Error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.req.HTTP.Context()))
	defer cancel(nil)
	defer x.h.calls.add(newCallKey(&x.session, e.id), cancel)()
	return x.call(ctx, m)
}

// handleCancelled cancels the call that notifications/cancelled names, here or at another replica.
func (x *exchange) handleCancelled(e *envelope) {
	if string(e.method) == `"notifications/cancelled"` {
		if id := jsonscan.Lookup(e.params, "requestId"); validID(id) {
			if !x.h.calls.cancel(newCallKey(&x.session, id)) {
				x.relay(relayMessage{Kind: relayCancel, Message: id})
			}
		}
	}
}

// useSession makes the request part of a session.
func (x *exchange) useSession(ss session) {
	x.session, x.req.Revision, x.req.Client = ss, legacyRevisions[ss.revision], ss.capabilities
	x.req.session = &x.session
}

// acceptNotification answers a notification with 202 (mcp-T7). A request without an id is refused: its result could
// never be delivered.
func (x *exchange) acceptNotification(e *envelope) *Error {
	if !bytes.HasPrefix(e.method, []byte(`"notifications/`)) {
		return invalidRequest("method %q needs an id", shorten(jsonscan.Unquote(e.method)))
	}
	x.event.Method = knownNotification(e.method)
	x.out.writeStatus(http.StatusAccepted)
	return nil
}
