package mcp

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Handler is the MCP endpoint. It must stand behind [Origins], behind
// whatever authenticates the caller, and behind what bounds how slowly a body may come. It is safe for concurrent use.
type Handler struct {
	methods map[string]methodEntry
	o       Options
	now     func() time.Time

	sessionSealer *sessionSealer
	calls         *Calls
	sessionLevels sessionLevels
	requestStates *SealedHandles
	relaySealer   *SealedHandles
	reloadable    atomic.Pointer[ReloadableOptions]
	elicitations  pendingElicitations
	buffers       bufferPool
	smallBuffers  bufferPool // small ones
	headers       *headerValues
	stallTimeout  time.Duration // how long writing an answer may stand still (H7)
	readPatience  time.Duration // with clients that read slowly; see [SlowReaders]

	serverInfo atomic.Pointer[serverInfo]
}

// NewHandler makes the endpoint. It starts no goroutine.
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
	t := ReloadableOptions{MaxBody: o.MaxBody, MaxDepth: o.MaxDepth, KeepAlive: o.KeepAlive, MaxStreamAge: o.MaxStreamAge, Sessionless: o.Sessionless}.bounded()
	h.reloadable.Store(&t)
	h.SetServerInfo(o.Title, o.Instructions)
	h.methods = h.methodTable(methods)
	return h
}

// exchange is one HTTP request and its answer.
type exchange struct {
	h     *Handler
	req   Request
	reply Reply
	out   responseWriter
	event Event

	session       session // of a legacy request
	cacheable     bool    // the result carries caching hints
	batched       bool    // the request is one of several in a body
	elicitedBytes int32   // bytes of what a legacy client has answered
	// ending is closed when the client will say nothing any more, but may listen; nil: that can't be known.
	inputEnded <-chan struct{}

	requestState *requestState // of a modern request, once a method asks
	continuation *continuation // nil: it is not a stream of changes
}

// ServeHTTP answers one HTTP request to the endpoint.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.newHTTPExchange(w, r).run((*exchange).serve)
}

// receive is newExchange for a request as the server has it. The server's own deadline
// (H7) is for answers that no exchange writes: a call may take longer. On HTTP/2 it would
// end the stream, and TLS is broken for good by a record that it stops, such as the answer
// to an update of keys. In clear HTTP/1 it harms nothing but a write, before which another
// is set.
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

// run answers by serve, or with its error, and reports what happened.
func (x *exchange) run(serve func(*exchange) *Error) {
	h := x.h
	var start time.Time
	if h.o.Observe != nil {
		start = h.now()
	}
	parked := false
	defer func() {
		if !parked {
			x.observe(start)
		}
	}()
	if err := serve(x); err != nil {
		x.writeError(err)
	}
	if x.continuation != nil {
		parked = true
		x.detach(start)
	}
}

// park goes on with a request that has become a stream of changes, or whose client is slow, here or where
// [Options].Park wants it, and there in a goroutine of its own if it can be.
func (x *exchange) detach(start time.Time) {
	rest := func() {
		defer x.observe(start)
		x.runContinuation()
	}
	take := x.hijackStream
	if x.continuation.slowReader {
		take = x.hijackSlowReader
	}
	if p := x.h.o.RunAfterMiddleware; p != nil && p(x.req.HTTP.Context(), func() {
		if !take(rest) {
			rest()
		}
	}) {
		return
	}
	rest()
}

// report tells what happened.
func (x *exchange) observe(start time.Time) {
	h := x.h
	if h.o.Observe == nil {
		return
	}
	x.event.HTTPStatus, x.event.ResponseBytes = int(x.out.status), x.out.written
	x.event.Family, x.event.Revision = x.req.Family, x.req.Revision
	x.event.Duration = h.now().Sub(start)
	h.o.Observe(x.req.HTTP, x.event)
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

// notAllowed refuses all methods but POST and, of legacy clients, those that have
// something behind them: GET opens a stream of changes, DELETE ends a session. The
// revisions allow to say so (2025-11-25 transports).
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

// delete ends a legacy session.
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
	if err := x.h.o.Revocations.Revoke(r.Context(), x.req.Principal, ss.key(), ss.expiry); err != nil {
		return x.internalError("ending a session failed", http.StatusServiceUnavailable, slog.Any("error", err))
	}
	x.h.forgetSession(ss.id)
	x.session = ss
	x.relay(relayMessage{Kind: relayEnd})
	x.out.writeStatus(http.StatusNoContent)
	return nil
}

// post takes one JSON-RPC message.
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

// modern serves a request of 2026-07-28: nothing but the request itself counts.
func (x *exchange) serveStateless(e *envelope) *Error {
	h := x.req.HTTP.Header
	x.req.Revision = revision20260728
	if e.id == nil {
		// No notification is defined for clients on this transport, nor headers for
		// one; the only demand is that what is there agrees.
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

// modernRequest serves a modern request whose envelope is good.
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

// legacy serves a request of a revision with sessions.
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

// sessionCall runs the method of a legacy request. A disconnect is not a cancellation
// in these revisions; a notification is.
func (x *exchange) callLegacy(e *envelope, m methodEntry) *Error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.req.HTTP.Context()))
	defer cancel(nil)
	defer x.h.calls.add(newCallKey(&x.session, e.id), cancel)()
	return x.call(ctx, m)
}

// cancels ends the call that a notification of the session wants to end.
func (x *exchange) handleCancelled(e *envelope) {
	if string(e.method) == `"notifications/cancelled"` {
		if id := jsonscan.Lookup(e.params, "requestId"); validID(id) {
			if !x.h.calls.cancel(newCallKey(&x.session, id)) {
				x.relay(relayMessage{Kind: relayCancel, Message: id})
			}
		}
	}
}

// enter makes the request one of a session.
func (x *exchange) useSession(ss session) {
	x.session, x.req.Revision, x.req.Client = ss, legacyRevisions[ss.revision], ss.capabilities
}

// notification accepts a message that wants no answer (mcp-T7). A request that
// lacks its id is not one: running it would do what nobody can see the end of.
func (x *exchange) acceptNotification(e *envelope) *Error {
	if !bytes.HasPrefix(e.method, []byte(`"notifications/`)) {
		return invalidRequest("method %q needs an id", shorten(jsonscan.Unquote(e.method)))
	}
	x.event.Method = knownNotification(e.method)
	x.out.writeStatus(http.StatusAccepted)
	return nil
}
