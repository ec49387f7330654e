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

// maxOldCalls bounds the requests under way of one stream of the old transport.
const maxOldCalls = 64

// OldTransport is the transport of 2024-11-05, HTTP with SSE: a GET opens a stream, whose
// first event tells where to POST messages, and everything for the client comes on that
// stream. It is deprecated since 2025-03-26, for clients that have nothing else. The
// stream, and so the session, lives in one process: where there are several replicas,
// both requests have to come to the same.
//
// It stands where the [Handler] stands: behind [Origins] and behind whatever
// authenticates the caller, and it has the handler's methods, limits and hub. All
// methods are safe for concurrent use.
type OldTransport struct {
	h        *Handler
	messages string

	mu   sync.Mutex
	open map[string]*oldStream
}

// NewOldTransport makes the transport for a handler that has a [Hub]. messages is the
// path of Messages, as clients see it.
func NewOldTransport(h *Handler, messages string) *OldTransport {
	return &OldTransport{h: h, messages: messages, open: make(map[string]*oldStream)}
}

// oldStream is one stream with its session.
type oldStream struct {
	x         *exchange // of the GET
	principal string
	ctx       context.Context // of the requests on the stream: it ends with it

	mu       sync.Mutex
	session  *session      // without an expiry before initialize
	calls    int           // messages that are served
	requests int           // of these
	over     bool          // no more requests are taken
	idle     chan struct{} // closed when the last message is served; nil: nobody waits for that
}

// Stream serves the GET that opens a stream.
func (t *OldTransport) Stream(w http.ResponseWriter, r *http.Request) {
	t.h.receive(w, r).run(t.get)
}

func (t *OldTransport) get(x *exchange) *Error {
	r, hub := x.req.HTTP, x.h.o.Hub
	x.req.Era = Legacy
	x.event.Method = "GET"
	if err := checkSingletons(r.Header); err != nil {
		return err
	}
	if hub == nil {
		return refusal(http.StatusNotFound, "there is no such transport here")
	}
	if r.Method != http.MethodGet {
		e := refusal(http.StatusMethodNotAllowed, "method %s is not allowed here: a GET opens the stream", r.Method)
		e.Header = http.Header{"Allow": {"GET"}}
		return e
	}
	if a := r.Header["Accept"]; len(a) > 0 && !listed(a, "text/event-stream", "text/*", "*/*") {
		return refusal(http.StatusNotAcceptable, "a GET opens an event stream: accept text/event-stream")
	}
	x.req.Revision = revision20241105 // until initialize says otherwise
	x.req.Principal = x.h.o.Principal(r.Context())
	l := newListener(hub, hub.viewer(&x.req))
	if err := hub.enter(l, &x.req); err != nil {
		return err
	}
	ss := session{}
	rand.Read(ss.id[:]) // never fails (crypto/rand)
	defer func() {
		if x.listens != nil {
			return
		}
		if l.watcher != nil { // a panic
			x.h.forget(ss.id)
		}
		hub.leave(l)
	}()
	var err *Error
	if l.watcher, err = hub.join(ss.id, &x.req, l); err != nil {
		return err
	}
	l.hear(x.h.changing())
	l.look(r.Context())
	until := x.until(r.Context())
	x.listens = &streaming{run: func(ctx context.Context) {
		defer hub.leave(l)
		defer x.h.forget(ss.id)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		st := &oldStream{x: x, principal: x.req.Principal, ctx: ctx}
		name := rand.Text()
		t.enter(name, st, ss)
		graceful := false
		defer func() {
			if idle := st.finish(); graceful {
				select { // as long as the client is there, and whoever ends the stream has the patience
				case <-idle:
				case <-ctx.Done():
				}
			}
			t.leave(name, st, cancel)
		}()
		graceful = st.write([]byte("event: endpoint\ndata: "+t.messages+"?sessionId="+name+eventEnd)) == nil && l.run(ctx, x, until)
	}}
	return nil
}

func (t *OldTransport) enter(name string, st *oldStream, ss session) {
	st.session = &ss
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[name] = st
}

// finish refuses further requests. What it returns is closed when those are served that are under way.
func (st *oldStream) finish() <-chan struct{} {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.over, st.idle = true, make(chan struct{})
	if st.calls == 0 {
		close(st.idle)
	}
	return st.idle
}

// leave ends the requests on a stream, and then the stream.
func (t *OldTransport) leave(name string, st *oldStream, cancel context.CancelFunc) {
	t.mu.Lock()
	delete(t.open, name)
	t.mu.Unlock()
	cancel()
	<-st.idle
	st.x.leave()
}

// write writes a piece of the stream. Several goroutines do.
func (st *oldStream) write(b []byte) error {
	s := &st.x.out
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if s.live.over {
		return errAnswered
	}
	if s.err != nil {
		return s.err
	}
	s.stream()
	s.write(b)
	s.sealed()
	return s.err
}

// Messages serves the POSTs with the client's messages. It answers 202 as soon as it has
// read one; what there is to say comes on the stream.
func (t *OldTransport) Messages(w http.ResponseWriter, r *http.Request) {
	x := t.h.receive(w, r)
	if err := t.post(x); err != nil {
		x.fail(err)
	}
}

func (t *OldTransport) post(x *exchange) *Error {
	r := x.req.HTTP
	x.req.Era = Legacy
	if err := checkSingletons(r.Header); err != nil {
		return err
	}
	if r.Method != http.MethodPost {
		e := refusal(http.StatusMethodNotAllowed, "method %s is not allowed here: messages are sent by POST", r.Method)
		e.Header = http.Header{"Allow": {"POST"}}
		return e
	}
	if err := checkContent(r.Header); err != nil {
		return err
	}
	x.req.Principal = x.h.o.Principal(r.Context())
	t.mu.Lock()
	st := t.open[r.URL.Query().Get("sessionId")]
	t.mu.Unlock()
	if st == nil || st.principal != x.req.Principal {
		return refusal(http.StatusNotFound, "there is no such stream: it has ended, or belongs to another caller or replica; open one with GET")
	}
	body, err := x.read()
	if err != nil {
		return err
	}
	e, fault := open(body, x.h.tuning.Load().MaxDepth)
	if fault != nil && !e.response {
		x.req.ID = e.id
		return fault
	}
	if e.response || e.id == nil {
		if err := x.hear(e.said()); err != nil {
			return err
		}
	}
	if err := st.begin(&e); err != nil {
		return err
	}
	// The caller is that of this request; the time is that of the stream.
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(st.ctx, cancel)
	header := r.Header.Clone()
	header["Accept"] = oldAccept
	again := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: r.URL.Path}, Header: header, RemoteAddr: r.RemoteAddr, Host: r.Host, ProtoMajor: 1}).WithContext(ctx)
	go func() { // leave waits for it
		defer st.done(&e)
		defer cancel()
		defer stop()
		t.serve(st, again, &e)
	}()
	x.out.empty(http.StatusAccepted)
	return nil
}

// oldAccept makes every answer an event. It is never written to.
var oldAccept = []string{"text/event-stream"}

// begin counts a message of the stream; done is called when it is served. A stream that is about to end takes what helps
// the requests on it to their end: answers and cancellations. So does one on which as many requests run as may.
func (st *oldStream) begin(e *envelope) *Error {
	st.mu.Lock()
	defer st.mu.Unlock()
	request := e.id != nil && !e.response
	switch {
	case st.over && (st.calls == 0 || request):
		return refusal(http.StatusNotFound, "the stream has ended; open one with GET")
	case request && st.requests >= maxOldCalls:
		return Later(http.StatusTooManyRequests, time.Second, "too many requests are under way: at most %d", maxOldCalls)
	}
	st.calls++
	if request {
		st.requests++
	}
	return nil
}

func (st *oldStream) done(e *envelope) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if e.id != nil && !e.response {
		st.requests--
	}
	if st.calls--; st.over && st.calls == 0 {
		close(st.idle)
	}
}

// serve serves one message, with its answer on the stream. It runs in a goroutine of its
// own, so a panic must not leave it.
func (t *OldTransport) serve(st *oldStream, r *http.Request, e *envelope) {
	w := &oldAnswer{st: st, header: make(http.Header)}
	y := t.h.newExchange(w, r)
	y.join()
	y.req.ID, y.req.Params, y.req.Era, y.req.Principal = e.id, e.params, Legacy, st.principal
	y.event.RequestBytes = int64(len(e.whole))
	st.mu.Lock()
	y.enter(*st.session)
	st.mu.Unlock()
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		z := t.h.newExchange(&oldAnswer{st: st, header: make(http.Header)}, r)
		z.join()
		z.req.ID, z.req.Era = e.id, Legacy
		z.fail(z.internal("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
	}()
	switch {
	case e.response:
		_ = y.answers(e.whole) // who has asked is here, or nobody is
	case e.id == nil:
		y.cancels(e)
	default:
		y.run(func(y *exchange) *Error { return st.request(y, e) })
	}
}

// join makes the answer events of a stream that is open already, and kept alive.
func (x *exchange) join() {
	s := &x.out
	s.event, s.sent, s.status = true, true, http.StatusOK
	s.live.open, s.live.period = true, 0
}

// request serves a request of the stream.
func (st *oldStream) request(y *exchange, e *envelope) *Error {
	if string(e.method) == `"initialize"` {
		id := y.session.id
		if err := y.agree(e); err != nil {
			return err
		}
		agreed := y.session
		agreed.id = id // its stream is known by it
		st.mu.Lock()
		st.session = &agreed // before the client knows: its next request may be faster than this one ends
		st.mu.Unlock()
		y.welcome()
		return nil
	}
	if st.agreed() || string(e.method) == `"ping"` {
		m, err := y.lookup(e)
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

// agreed tells whether initialize was answered: sessions expire, those before it do not.
func (st *oldStream) agreed() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return !st.session.expiry.IsZero()
}

// oldAnswer puts the events of an answer on the stream, each as a whole.
type oldAnswer struct {
	st     *oldStream
	header http.Header
	held   []byte
}

func (a *oldAnswer) Header() http.Header { return a.header }
func (a *oldAnswer) WriteHeader(int)     {}

func (a *oldAnswer) Write(b []byte) (int, error) {
	a.held = append(a.held, b...)
	return len(b), nil
}

// FlushError is called after each event.
func (a *oldAnswer) FlushError() error {
	held := a.held
	a.held = nil
	if len(held) == 0 {
		return nil
	}
	return a.st.write(held)
}
