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
	methods map[string]entry
	o       Options
	now     func() time.Time

	sealer    *sealer
	calls     *Calls
	levels    levels
	states    *Handles
	relays    *Handles
	tuning    atomic.Pointer[Tuning]
	questions questions
	buffers   buffers
	lean      buffers // small ones
	fixed     *fixedHeaders
	stall     time.Duration // how long writing an answer may stand still (H7)
	patience  time.Duration // with clients that read slowly; see [SlowReaders]

	introduction atomic.Pointer[introduction]
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
	if o.Panicked == nil {
		o.Panicked = func(string, any) {}
	}
	if o.Waits == nil {
		o.Waits = &Waits{}
	}
	if o.Calls == nil {
		o.Calls = &Calls{}
	}
	h := &Handler{
		o:      o,
		now:    o.Now,
		sealer: newSealer(o.SealKeys),
		states: newHandles(o.SealKeys, askLabel),
		relays: newHandles(o.SealKeys, relayLabel),
		calls:  o.Calls,
		fixed:  newFixedHeaders(),
		stall:  10 * time.Second,

		patience: readPatience,
	}
	h.buffers.size, h.lean.size = bufferSize, leanSize
	t := Tuning{MaxBody: o.MaxBody, MaxDepth: o.MaxDepth, KeepAlive: o.KeepAlive, MaxStreamAge: o.MaxStreamAge, Sessionless: o.Sessionless}.bounded()
	h.tuning.Store(&t)
	h.Introduce(o.Title, o.Instructions)
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

	session   session // of a legacy request
	cacheable bool    // the result carries caching hints
	batched   bool    // the request is one of several in a body
	heard     int32   // bytes of what a legacy client has answered
	// ending is closed when the client will say nothing any more, but may listen; nil: that can't be known.
	ending <-chan struct{}

	state   *askState  // of a modern request, once a method asks
	listens *streaming // nil: it is not a stream of changes
}

// ServeHTTP answers one HTTP request to the endpoint.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.receive(w, r).run((*exchange).serve)
}

// receive is newExchange for a request as the server has it. The server's own deadline
// (H7) is for answers that no exchange writes: a call may take longer. On HTTP/2 it would
// end the stream, and TLS is broken for good by a record that it stops, such as the answer
// to an update of keys. In clear HTTP/1 it harms nothing but a write, before which another
// is set.
func (h *Handler) receive(w http.ResponseWriter, r *http.Request) *exchange {
	x := h.newExchange(w, r)
	if !x.out.http1 || r.TLS != nil {
		x.out.deadline(time.Time{})
	}
	return x
}

func (h *Handler) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{h: h}
	x.req.HTTP = r
	x.reply.x = x
	o := &x.out
	o.h, o.w, o.control, o.pool = h, w, http.NewResponseController(w), &h.buffers
	o.stall, o.live.period, o.http1 = h.stall, h.tuning.Load().KeepAlive, r.ProtoMajor == 1
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
			x.report(start)
		}
	}()
	if err := serve(x); err != nil {
		x.fail(err)
	}
	if x.listens != nil {
		parked = true
		x.park(start)
	}
}

// park goes on with a request that has become a stream of changes, or whose client is slow, here or where
// [Options].Park wants it, and there in a goroutine of its own if it can be.
func (x *exchange) park(start time.Time) {
	rest := func() {
		defer x.report(start)
		x.listen()
	}
	take := x.takeOver
	if x.listens.lags {
		take = x.takeLate
	}
	if p := x.h.o.Park; p != nil && p(x.req.HTTP.Context(), func() {
		if !take(rest) {
			rest()
		}
	}) {
		return
	}
	rest()
}

// report tells what happened.
func (x *exchange) report(start time.Time) {
	h := x.h
	if h.o.Observe == nil {
		return
	}
	x.event.HTTPStatus, x.event.ResponseBytes = int(x.out.status), x.out.size
	x.event.Era, x.event.Revision = x.req.Era, x.req.Revision
	x.event.Duration = h.now().Sub(start)
	h.o.Observe(x.req.HTTP, x.event)
}

func (x *exchange) serve() *Error {
	r := x.req.HTTP
	if err := checkSingletons(r.Header); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodPost:
		return x.post()
	case http.MethodGet:
		return x.get()
	case http.MethodDelete:
		return x.delete()
	default:
		return x.notAllowed()
	}
}

// notAllowed refuses all methods but POST and, of legacy clients, those that have
// something behind them: GET opens a stream of changes, DELETE ends a session. The
// revisions allow to say so (2025-11-25 transports).
func (x *exchange) notAllowed() *Error {
	allow := "POST"
	if version, _ := first(x.req.HTTP.Header, headerVersion); version < revision20260728 {
		if x.h.o.Hub != nil {
			allow += ", GET"
		}
		if x.h.o.Revoked != nil {
			allow += ", DELETE"
		}
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
	x.req.Principal = x.h.o.Principal(r.Context())
	if err := x.hear(http.MethodDelete); err != nil {
		return err
	}
	ss, fault := x.h.resume(r.Context(), r.Header, x.req.Principal)
	if fault != nil {
		return fault
	}
	if err := x.h.o.Revoked.Revoke(r.Context(), x.req.Principal, ss.key(), ss.expiry); err != nil {
		return x.internal("ending a session failed", http.StatusServiceUnavailable, slog.Any("error", err))
	}
	x.h.forget(ss.id)
	x.session = ss
	x.relay(relayed{Kind: relayEnd})
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
	if isBatch(body) {
		return x.batch(body)
	}
	e, err := open(body, x.h.tuning.Load().MaxDepth)
	x.req.ID = e.id
	version, _ := first(r.Header, headerVersion)
	if e.response && version < revision20260728 {
		return x.answered(body)
	}
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
		x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
		if err := x.hear(e.said()); err != nil {
			return err
		}
		return x.notification(e)
	}
	if err := checkModern(h, e); err != nil {
		return err
	}
	return x.modernRequest(e)
}

// modernRequest serves a modern request whose envelope is good.
func (x *exchange) modernRequest(e *envelope) *Error {
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
	if e.id == nil {
		if err := x.hear(e.said()); err != nil {
			return err
		}
	}
	if !x.sessionless(e) {
		ss, err := x.h.resume(r.Context(), r.Header, x.req.Principal)
		if err != nil {
			return err
		}
		x.enter(ss)
	}
	if e.id == nil {
		x.cancels(e)
		return x.notification(e)
	}
	m, err := x.lookup(e)
	if err != nil {
		return err
	}
	return x.sessionCall(e, m)
}

// sessionCall runs the method of a legacy request. A disconnect is not a cancellation
// in these revisions; a notification is.
func (x *exchange) sessionCall(e *envelope, m entry) *Error {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.req.HTTP.Context()))
	defer cancel(nil)
	defer x.h.calls.add(newCallKey(&x.session, e.id), cancel)()
	return x.call(ctx, m)
}

// cancels ends the call that a notification of the session wants to end.
func (x *exchange) cancels(e *envelope) {
	if string(e.method) == `"notifications/cancelled"` {
		if id := jsonscan.Lookup(e.params, "requestId"); validID(id) {
			if !x.h.calls.cancel(newCallKey(&x.session, id)) {
				x.relay(relayed{Kind: relayCancel, Message: id})
			}
		}
	}
}

// enter makes the request one of a session.
func (x *exchange) enter(ss session) {
	x.session, x.req.Revision, x.req.Client = ss, legacyRevisions[ss.revision], ss.capabilities
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
