package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"drawbridge/openapi/jsonscan"
)

// StdioOptions are the parameters of [Handler.ServeStdio].
type StdioOptions struct {
	// Stop ends the reading when it is closed, as the end of the input does. It may be nil.
	Stop <-chan struct{}
	// MaxRequests limits the concurrent requests. At the limit nothing is read, so that a client that sends more is
	// slowed down rather than refused. The default is 4,096.
	MaxRequests int
	// Context derives the context of each request from that of ServeStdio. If nil, the context is used as it is.
	Context func(context.Context) context.Context
	// Drain returns, after the reading has ended, how long requests in progress may take before they are cancelled. If
	// nil, there is no limit.
	Drain func() time.Duration
}

// ErrDrain is returned by [Handler.ServeStdio] if requests took longer than Drain allows.
var ErrDrain = errors.New("requests that were still running are cut")

// ServeStdio serves one client over the stdio transport of all revisions (2026-07-28 basic/transports/stdio): it reads
// one message per line from in and writes one per line to out. There are no headers: each message shows its revision
// family, the legacy session is that of the connection, and the client is not authenticated. Requests run concurrently;
// notifications/cancelled cancels one of either family, which then gets no response. A line that is not a valid message
// is answered with an error, with its id if that can be found, and reading goes on.
//
// ServeStdio returns nil when the input has ended or Stop is closed, and every request that was read is answered. ctx
// is the parent of the requests' contexts; when it ends, so do they, and ServeStdio returns its cause. Any other error
// is that of in or out.
//
// ServeStdio does not wait for a Read of in that is in progress, nor, when ctx has ended, for requests that don't end
// with it, such as those whose output is not read.
func (h *Handler) ServeStdio(ctx context.Context, in io.Reader, out io.Writer, o StdioOptions) error {
	if o.MaxRequests <= 0 {
		o.MaxRequests = 1 << 12
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &stdioConn{
		h: h, o: o, ctx: ctx, out: &stdioWriter{w: out, broken: cancel}, requestSlots: make(chan struct{}, o.MaxRequests),
		active: make(map[callKey]*stdioRequest), inputEnded: make(chan struct{}), closeStream: func() {},
	}
	read := make(chan error, 1)
	c.running.Go(func() { read <- c.read(in, o.Stop) }) // it answers some messages itself, so a write may block it
	var err error
	select {
	case err = <-read:
	case <-o.Stop:
	case <-ctx.Done():
	}
	close(c.inputEnded)
	if o.Drain != nil {
		defer time.AfterFunc(o.Drain(), func() { cancel(ErrDrain) }).Stop()
	}
	c.waitForRequests()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// cancelGrace is how long cancelled requests may take to end.
const cancelGrace = time.Second

// waitForRequests returns when all requests have ended, or cancelGrace after they were cancelled.
func (c *stdioConn) waitForRequests() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		c.running.Wait()
	}()
	select {
	case <-gone:
		return
	case <-c.ctx.Done():
	}
	t := time.NewTimer(cancelGrace)
	defer t.Stop()
	select {
	case <-gone:
	case <-t.C:
	}
}

// stdioConn is the connection to a stdio client. Its methods are called by the goroutine that reads, except for
// waitForRequests, which ServeStdio calls.
type stdioConn struct {
	h            *Handler
	o            StdioOptions
	ctx          context.Context // of ServeStdio: the parent of the requests' contexts
	out          *stdioWriter
	session      *session // nil before initialize
	requestSlots chan struct{}
	running      sync.WaitGroup
	inputEnded   chan struct{} // closed when nothing more is read
	closeStream  func()        // ends the stream of the session

	mu     sync.Mutex
	active map[callKey]*stdioRequest
}

// stdioRequest is a request in progress.
type stdioRequest struct {
	cancel context.CancelFunc
	muted  *atomic.Bool // see stdioResponse
}

// read handles one message after the other until the input ends or stop is closed.
func (c *stdioConn) read(in io.Reader, stop <-chan struct{}) error {
	lines, quit := make(chan stdioMessage), make(chan struct{})
	defer close(quit)
	var err error
	go func() {
		defer close(lines)
		r := newStdioReader(in, c.h.reloadable.Load().MaxBody)
		for {
			var l stdioMessage
			if l, err = r.next(); err != nil {
				return
			}
			select {
			case lines <- l:
			case <-quit:
				return
			}
		}
	}()
	for {
		select {
		case l, ok := <-lines:
			if !ok {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return fmt.Errorf("read messages: %w", err)
			}
			c.handleMessage(l)
		case <-stop:
			return nil
		case <-c.ctx.Done():
			return nil
		}
	}
}

// stdioRequestHeader makes every response an event stream, which stdioResponse parses. It must not be modified.
var stdioRequestHeader = http.Header{"Accept": {"text/event-stream"}}

// exchange returns an exchange as for an HTTP request.
func (c *stdioConn) exchange(ctx context.Context) (*exchange, *stdioResponse) {
	if c.o.Context != nil {
		ctx = c.o.Context(ctx)
	}
	r := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/"}, Header: stdioRequestHeader}).WithContext(ctx)
	w := &stdioResponse{out: c.out, header: make(http.Header)}
	x := c.h.newExchange(w, r)
	x.inputEnded = c.inputEnded
	return x, w
}

// handleMessage serves one message, in a new goroutine if it is a request.
func (c *stdioConn) handleMessage(l stdioMessage) {
	ctx, cancel := context.WithCancel(c.ctx)
	x, w := c.exchange(ctx)
	x.event.RequestBytes = l.size
	if l.size > int64(len(l.text)) {
		x.req.ID = l.id
		c.respond(x, w, cancel, func(*exchange) *Error {
			return invalidRequest("the message is larger than %d bytes", c.h.reloadable.Load().MaxBody)
		})
		return
	}
	e, fault := parseMessage(l.text, c.h.reloadable.Load().MaxDepth)
	x.req.ID, x.req.Params = e.id, e.params
	x.req.Family = classify("", &e)
	switch {
	case e.isResponse:
		// An error for a response that matches no input request would have its id, and look like the response to a
		// request of the client.
		x.req.ID = nil
		c.respond(x, w, cancel, func(x *exchange) *Error { return c.handleResponse(x, l.text) })
	case fault != nil:
		c.respond(x, w, cancel, func(*exchange) *Error { return fault })
	case e.id == nil:
		c.respond(x, w, cancel, func(x *exchange) *Error { return c.handleNotification(x, &e) })
	case x.req.Family == Legacy && string(e.method) == `"initialize"`:
		// In this goroutine, since the messages that follow belong to the session.
		c.respond(x, w, cancel, func(x *exchange) *Error {
			err := x.initialize(&e)
			if err == nil {
				c.session = &x.session
			}
			return err
		})
	default:
		c.start(x, w, cancel, &e)
	}
}

// handleResponse handles a response to an input request.
func (c *stdioConn) handleResponse(x *exchange, message []byte) *Error {
	x.event.Method = "response"
	if c.session != nil {
		x.useSession(*c.session)
		c.h.elicitations.deliver(c.session.id, message)
	}
	x.out.writeStatus(http.StatusAccepted)
	return nil
}

// handleNotification handles a message without an id. It gets no response, even if it is not a notification.
func (c *stdioConn) handleNotification(x *exchange, e *envelope) *Error {
	switch string(e.method) {
	case `"notifications/initialized"`:
		c.openSessionStream()
	case `"notifications/cancelled"`:
		if id := jsonscan.Lookup(e.params, "requestId"); validID(id) {
			c.cancel(id)
		}
	}
	if err := x.acceptNotification(e); err != nil {
		x.event.setError(err)
	}
	return nil
}

// openSessionStream starts what a legacy client over HTTP opens with GET: change notifications of the session.
func (c *stdioConn) openSessionStream() {
	if c.session == nil || c.h.o.Broker == nil {
		return
	}
	c.closeStream() // of the former session
	ctx, cancel := context.WithCancel(c.ctx)
	c.closeStream = cancel
	ss := *c.session
	x, w := c.exchange(ctx)
	c.running.Go(func() {
		c.respond(x, w, cancel, func(x *exchange) *Error {
			x.req.Family, x.event.Method = Legacy, "GET"
			x.useSession(ss)
			err := x.openSessionStream(time.Time{})
			if err != nil { // there is no request that it could answer
				x.event.setError(err)
				c.h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a client can't be notified of changes", slog.Any("error", err))
			}
			return nil
		})
	})
}

// cancel cancels a request in progress.
func (c *stdioConn) cancel(id []byte) {
	c.mu.Lock()
	a := c.active[newCallKey(&session{}, id)]
	c.mu.Unlock()
	if a != nil {
		a.muted.Store(true)
		a.cancel()
	}
}

// start serves a request in its own goroutine as soon as a slot is free.
func (c *stdioConn) start(x *exchange, w *stdioResponse, cancel context.CancelFunc, e *envelope) {
	select {
	case c.requestSlots <- struct{}{}:
	case <-c.ctx.Done():
		cancel()
		return
	}
	key, a := newCallKey(&session{}, e.id), &stdioRequest{cancel: cancel, muted: &w.muted}
	c.mu.Lock()
	c.active[key] = a
	c.mu.Unlock()
	ss := c.session
	c.running.Go(func() {
		defer func() {
			c.mu.Lock()
			if c.active[key] == a {
				delete(c.active, key)
			}
			c.mu.Unlock()
			<-c.requestSlots
		}()
		c.respond(x, w, cancel, func(x *exchange) *Error { return x.serveStdioRequest(e, ss) })
	})
}

// respond answers by serve and ends the line.
func (c *stdioConn) respond(x *exchange, w *stdioResponse, cancel context.CancelFunc, serve func(*exchange) *Error) {
	defer cancel()
	x.out.event = x.req.ID != nil
	defer func() {
		v := recover()
		w.endLine()
		if v == nil {
			return
		}
		// A method has aborted, or the server has a fault. Over HTTP a closed connection tells the client that the rest
		// is missing; here another line with an error does.
		y, again := c.exchange(c.ctx)
		y.req.ID, y.event.Method = x.req.ID, x.event.Method
		y.writeError(y.internalError("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
		again.endLine()
	}()
	x.run(serve)
}

// serveStdioRequest serves a request, which has no headers. ss is the session of the connection, nil before initialize.
func (x *exchange) serveStdioRequest(e *envelope, ss *session) *Error {
	if x.req.Family == Stateless {
		version, ok := decodeString(e.metaVersion)
		if !ok {
			return InvalidParams("params._meta needs %q, a string", keyProtocolVersion)
		}
		if x.req.Revision = revision20260728; version != revision20260728 {
			return unsupportedVersion(version)
		}
		if err := checkMeta(e); err != nil {
			return err
		}
		return x.callStateless(e)
	}
	switch {
	case ss != nil:
		x.useSession(*ss)
	case string(e.method) == `"ping"`: // the only request that may precede initialize (2025-11-25 lifecycle, Initialization)
		x.useSession(session{})
	default:
		return invalidRequest("send initialize first, or a request of revision %s with its _meta", revision20260728)
	}
	x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
	m, err := x.lookupMethod(e)
	if err != nil {
		return err
	}
	// Unread output does not cancel a request, and a cancelled request gets no response, as for stateless requests over
	// HTTP; so the context is the request's.
	return x.call(x.req.HTTP.Context(), m)
}
