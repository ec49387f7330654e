package mcp

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync"
	"time"
)

// maxHTTPSSERequests limits the concurrent requests of one stream.
const maxHTTPSSERequests = 64

// HTTPSSETransport is the HTTP+SSE transport of 2024-11-05: a GET opens a stream, whose first event names the URL for
// POSTs, and all messages to the client are sent on that stream. It is deprecated since 2025-03-26 and serves clients
// that support nothing else. The stream, and so the session, lives in one process: with several replicas both requests
// have to reach the same.
//
// Like the [Handler], it must stand behind [Origins] and the authentication middleware. It uses the handler's methods,
// limits and broker. All methods are safe for concurrent use.
type HTTPSSETransport struct {
	h            *Handler
	messagesPath func(stream *http.Request) string

	mu      sync.Mutex
	streams map[string]*httpSSEStream
}

// NewHTTPSSETransport returns the transport for a handler that has a [Broker]. messages returns the path of
// Messages as the client sees it that has opened a stream.
func NewHTTPSSETransport(h *Handler, messages func(stream *http.Request) string) *HTTPSSETransport {
	return &HTTPSSETransport{h: h, messagesPath: messages, streams: make(map[string]*httpSSEStream)}
}

// httpSSEStream is one stream with its session.
type httpSSEStream struct {
	x         *exchange // of the GET
	principal string
	ctx       context.Context // parent of the requests' contexts; it ends with the stream

	mu       sync.Mutex
	session  *session      // has no expiry before initialize
	messages int           // in progress
	requests int           // those of them that are requests
	ended    bool          // no more requests are accepted
	idle     chan struct{} // closed when the last message is served; nil until stopAccepting
}

// Stream serves the GET that opens a stream.
func (t *HTTPSSETransport) Stream(w http.ResponseWriter, r *http.Request) {
	t.h.newHTTPExchange(w, r).run(t.openStream)
}

func (t *HTTPSSETransport) openStream(x *exchange) *Error {
	r, broker := x.req.HTTP, x.h.o.Broker
	x.req.Family = Legacy
	x.event.Method = "GET"
	if err := checkSingleValueHeaders(r.Header); err != nil {
		return err
	}
	if broker == nil {
		return httpError(http.StatusNotFound, "there is no such transport here")
	}
	if r.Method != http.MethodGet {
		e := httpError(http.StatusMethodNotAllowed, "method %s is not allowed here: a GET opens the stream", r.Method)
		e.Header = http.Header{"Allow": {"GET"}}
		return e
	}
	if a := r.Header["Accept"]; len(a) > 0 && !acceptsAny(a, "text/event-stream", "text/*", "*/*") {
		return httpError(http.StatusNotAcceptable, "a GET opens an event stream: accept text/event-stream")
	}
	x.req.Revision = revision20241105 // until initialize says otherwise
	x.req.Principal = x.h.o.Principal(r.Context())
	s := newSubscriptionStream(broker, broker.subscriberOf(&x.req))
	if err := broker.addStream(s, &x.req); err != nil {
		return err
	}
	ss := session{query: r.URL.RawQuery}
	rand.Read(ss.id[:]) // never fails (crypto/rand)
	defer func() {
		if x.continuation != nil {
			return
		}
		if s.subscriptions != nil { // after a panic
			x.h.forgetSession(ss.id)
		}
		broker.removeStream(s)
	}()
	var err *Error
	if s.subscriptions, err = broker.joinSession(ss.id, &x.req, s); err != nil {
		return err
	}
	s.setLists(x.h.observableLists())
	s.recordListVersions(r.Context())
	until := x.streamDeadline(r.Context())
	x.continuation = &continuation{run: func(ctx context.Context) {
		defer broker.removeStream(s)
		defer x.h.forgetSession(ss.id)
		t.serveStream(ctx, x, s, ss, until)
	}}
	return nil
}

// serveStream sends the messages' URL and serves the stream until it ends.
func (t *HTTPSSETransport) serveStream(ctx context.Context, x *exchange, s *subscriptionStream, ss session, until time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st := &httpSSEStream{x: x, principal: x.req.Principal, ctx: ctx}
	name := rand.Text()
	t.register(name, st, ss)
	graceful := false
	defer func() {
		if idle := st.stopAccepting(); graceful {
			select { // until the client leaves or the shutdown stops waiting
			case <-idle:
			case <-ctx.Done():
			}
		}
		t.unregister(name, st, cancel)
	}()
	graceful = st.write([]byte("event: endpoint\ndata: "+t.messagesPath(x.req.HTTP)+"?sessionId="+name+eventEnd)) == nil && s.run(ctx, x, until)
}

func (t *HTTPSSETransport) register(name string, st *httpSSEStream, ss session) {
	st.session = &ss
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams[name] = st
}

// stopAccepting refuses further requests. The channel is closed when those in progress are served.
func (st *httpSSEStream) stopAccepting() <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.ended, st.idle = true, make(chan struct{})
	if st.messages == 0 {
		close(st.idle)
	}
	return st.idle
}

// unregister cancels the requests on a stream, waits for them and ends the stream.
func (t *HTTPSSETransport) unregister(name string, st *httpSSEStream, cancel context.CancelFunc) {
	t.mu.Lock()
	delete(t.streams, name)
	t.mu.Unlock()
	cancel()
	<-st.idle
	st.x.abandonReply()
}

// write writes a part of the stream. It is safe for concurrent use.
func (st *httpSSEStream) write(b []byte) error {
	w := &st.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if w.sse.ended {
		return errAnswered
	}
	if w.err != nil {
		return w.err
	}
	w.startEventStream()
	w.writeConn(b)
	w.finishEvent()
	return w.err
}

// Messages serves the POSTs with the client's messages. It answers 202 as soon as it has read one; the response is sent
// on the stream.
func (t *HTTPSSETransport) Messages(w http.ResponseWriter, r *http.Request) {
	x := t.h.newHTTPExchange(w, r)
	if err := t.postMessage(x); err != nil {
		x.writeError(err)
	}
}

func (t *HTTPSSETransport) postMessage(x *exchange) *Error {
	r := x.req.HTTP
	x.req.Family = Legacy
	if err := checkSingleValueHeaders(r.Header); err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		e := httpError(http.StatusMethodNotAllowed, "method %s is not allowed here: messages are sent by POST", r.Method)
		e.Header = http.Header{"Allow": {"POST"}}
		return e
	}
	if err := checkContentType(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	t.mu.Lock()
	st := t.streams[r.URL.Query().Get("sessionId")]
	t.mu.Unlock()
	if st == nil || st.principal != x.req.Principal {
		return httpError(http.StatusNotFound, "there is no such stream: it has ended, or belongs to another caller or replica; open one with GET")
	}
	body, err := x.readBody()
	if err != nil {
		return err
	}
	e, fault := parseMessage(body, x.h.reloadable.Load().MaxDepth)
	if fault != nil && !e.isResponse {
		x.req.ID = e.id
		return fault
	}
	if e.isResponse || e.id == nil {
		if err := x.admitMessage(e.admissionName()); err != nil {
			return err
		}
	}
	if err := st.startMessage(&e); err != nil {
		return err
	}
	// The context has the caller of this request and the lifetime of the stream.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(st.ctx, cancel)
	header := r.Header.Clone()
	header["Accept"] = acceptEventStream
	inner := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: r.URL.Path}, Header: header, RemoteAddr: r.RemoteAddr, Host: r.Host, ProtoMajor: 1}).WithContext(ctx)
	go func() { // unregister waits for it
		defer st.finishMessage(&e)
		defer cancel()
		defer stop()
		t.serveMessage(st, inner, &e)
	}()
	x.out.writeStatus(http.StatusAccepted)
	return nil
}

// acceptEventStream makes every response an event. It must not be modified.
var acceptEventStream = []string{"text/event-stream"}

// startMessage counts a message of the stream; finishMessage is called when it is served. A stream that is about to end
// still accepts messages that help its requests to end, responses and cancellations, and so does one with the maximum
// number of requests.
func (st *httpSSEStream) startMessage(e *envelope) *Error {
	st.mu.Lock()
	defer st.mu.Unlock()
	request := e.id != nil && !e.isResponse
	switch {
	case st.ended && (st.messages == 0 || request):
		return httpError(http.StatusNotFound, "the stream has ended; open one with GET")
	case request && st.requests >= maxHTTPSSERequests:
		return RetryLater(http.StatusTooManyRequests, time.Second, "too many requests are under way: at most %d", maxHTTPSSERequests)
	}
	st.messages++
	if request {
		st.requests++
	}
	return nil
}

func (st *httpSSEStream) finishMessage(e *envelope) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if e.id != nil && !e.isResponse {
		st.requests--
	}
	if st.messages--; st.ended && st.messages == 0 {
		close(st.idle)
	}
}

// serveMessage serves one message and sends the response on the stream. It runs in its own goroutine, so no panic may
// leave it.
func (t *HTTPSSETransport) serveMessage(st *httpSSEStream, r *http.Request, e *envelope) {
	w := &httpSSEResponse{st: st, header: make(http.Header)}
	y := t.h.newExchange(w, r)
	y.joinOpenStream()
	y.req.ID, y.req.Params, y.req.Family, y.req.Principal = e.id, e.params, Legacy, st.principal
	y.event.RequestBytes = int64(len(e.message))
	st.mu.Lock()
	y.useSession(*st.session)
	st.mu.Unlock()
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		z := t.h.newExchange(&httpSSEResponse{st: st, header: make(http.Header)}, r)
		z.joinOpenStream()
		z.req.ID, z.req.Family = e.id, Legacy
		z.writeError(z.internalError("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
	}()
	switch {
	case e.isResponse:
		_ = y.deliverResponse(e.message) // a stream is on one replica only
	case e.id == nil:
		y.handleCancelled(e)
	default:
		y.run(func(y *exchange) *Error { return st.serveRequest(y, e) })
	}
}

// joinOpenStream makes the response events of a stream that is already open and kept alive.
func (x *exchange) joinOpenStream() {
	w := &x.out
	w.event, w.headerSent, w.status = true, true, http.StatusOK
	w.sse.started, w.sse.period = true, 0
}

// serveRequest serves a request of the stream.
func (st *httpSSEStream) serveRequest(y *exchange, e *envelope) *Error {
	if string(e.method) == `"initialize"` {
		id := y.session.id
		instructions, err := y.negotiate(e)
		if err != nil {
			return err
		}
		agreed := y.session
		agreed.id = id // the stream is registered by it
		st.mu.Lock()
		st.session = &agreed // before the response, since the next request may come at once
		st.mu.Unlock()
		y.sendInitializeResult(instructions)
		return nil
	}
	if st.initialized() || string(e.method) == `"ping"` {
		m, err := y.lookupMethod(e)
		if err != nil {
			return err
		}
		// The session ends with its stream, and so do its calls.
		ctx, cancel := context.WithCancelCause(y.req.HTTP.Context())
		defer cancel(nil)
		defer y.h.calls.add(newCallKey(&y.session, e.id), cancel)()
		return y.call(ctx, m)
	}
	return invalidRequest("send initialize first")
}

// initialized reports whether initialize was answered; only initialized sessions have an expiry.
func (st *httpSSEStream) initialized() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.session.expiry != 0
}

// httpSSEResponse is an http.ResponseWriter that sends each event of a response on the stream, as a whole.
type httpSSEResponse struct {
	st       *httpSSEStream
	header   http.Header
	buffered []byte
}

func (a *httpSSEResponse) Header() http.Header { return a.header }
func (a *httpSSEResponse) WriteHeader(int)     {}

func (a *httpSSEResponse) Write(b []byte) (int, error) {
	a.buffered = append(a.buffered, b...)
	return len(b), nil
}

// FlushError is called after each event and sends it.
func (a *httpSSEResponse) FlushError() error {
	held := a.buffered
	a.buffered = nil
	if len(held) == 0 {
		return nil
	}
	return a.st.write(held)
}
