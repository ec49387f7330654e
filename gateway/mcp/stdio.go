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

// LineOptions are the parameters of [Handler.ServeLines].
type StdioOptions struct {
	// Stop ends the reading when it is closed, as the end of the input does. nil: only that does.
	Stop <-chan struct{}
	// MaxRequests bounds the requests that run at once. While so many run nothing is read, so a client that sends more is
	// slowed down rather than refused. 0: 4,096.
	MaxRequests int
	// Context makes the context of each request from that of ServeLines. nil: it is that.
	Context func(context.Context) context.Context
	// Drain tells, when the reading has ended, how long running requests may take; then they are cancelled. nil: as long as
	// they take.
	Drain func() time.Duration
}

// ErrDrain is what [Handler.ServeLines] returns when requests took longer than they may.
var ErrDrain = errors.New("requests that were still running are cut")

// ServeLines serves one client that writes its messages to in and reads those for it from out, one in each line: the
// stdio transport of all revisions (2026-07-28 basic/transports/stdio). There are no headers: the era is told by each
// message, the legacy session is that of the stream, and nobody asks who the client is. Requests run concurrently;
// notifications/cancelled ends one of either era, and it is not answered then. What can't be read as a message is answered
// with an error, with its id if that can be told, and the next line is read.
//
// It returns when the input has ended, or Stop is closed, and every request that was read is answered: nil then. ctx is
// that of the requests; when it ends, so do they, and ServeLines with its error. Any other error is that of in or out.
//
// A Read of in that is under way when ServeLines returns is not waited for; nor, when ctx has ended, are requests that do
// not end with it, perhaps because nobody takes what they write.
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
	c.running.Go(func() { read <- c.read(in, o.Stop) }) // which answers some lines itself, and who takes the answer may be gone
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

// lastWords is how long requests have that are cancelled for good.
const cancelGrace = time.Second

// wait returns when no request runs any more, or when those that do should have ended long ago.
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

// conversation is the connection to a client that writes lines. Its methods are called by the goroutine that reads,
// but for wait, which is called by that of ServeLines.
type stdioConn struct {
	h            *Handler
	o            StdioOptions
	ctx          context.Context // of ServeLines: the parent of that of each request
	out          *stdioWriter
	session      *session // what initialize has agreed on; nil: nothing so far
	requestSlots chan struct{}
	running      sync.WaitGroup
	inputEnded   chan struct{} // closed when no more lines are read
	closeStream  func()        // ends the stream of changes of the session

	mu     sync.Mutex
	active map[callKey]*stdioRequest
}

// activeLine is a request under way.
type stdioRequest struct {
	cancel context.CancelFunc
	muted  *atomic.Bool // see lineAnswer
}

// read takes one line after the other until there are no more or the end is asked for.
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

// lineAccept makes every answer an event stream, which lineAnswer takes apart. It is never written to.
var stdioRequestHeader = http.Header{"Accept": {"text/event-stream"}}

// exchange makes what a request over HTTP would be.
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

// take begins to serve one line.
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
		// Also where it answers nothing that was asked, an error would carry its id, and so look like the answer to a request
		// of the client's own.
		x.req.ID = nil
		c.respond(x, w, cancel, func(x *exchange) *Error { return c.handleResponse(x, l.text) })
	case fault != nil:
		c.respond(x, w, cancel, func(*exchange) *Error { return fault })
	case e.id == nil:
		c.respond(x, w, cancel, func(x *exchange) *Error { return c.handleNotification(x, &e) })
	case x.req.Family == Legacy && string(e.method) == `"initialize"`:
		// At once: what follows, perhaps in the same breath, is said within the session.
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

// answered takes the client's answer to a question.
func (c *stdioConn) handleResponse(x *exchange, message []byte) *Error {
	x.event.Method = "response"
	if c.session != nil {
		x.useSession(*c.session)
		c.h.elicitations.deliver(c.session.id, message)
	}
	x.out.writeStatus(http.StatusAccepted)
	return nil
}

// notified takes a message without an id. It gets no answer, whatever it is.
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

// tell opens what a legacy client over HTTP opens with GET: from now on the session hears of changes.
func (c *stdioConn) openSessionStream() {
	if c.session == nil || c.h.o.Broker == nil {
		return
	}
	c.closeStream() // of the session before this one
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
				c.h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a client is not told of changes", slog.Any("error", err))
			}
			return nil
		})
	})
}

// cancel ends a request that is under way.
func (c *stdioConn) cancel(id []byte) {
	c.mu.Lock()
	a := c.active[newCallKey(&session{}, id)]
	c.mu.Unlock()
	if a != nil {
		a.muted.Store(true)
		a.cancel()
	}
}

// start serves a request in a goroutine of its own, as soon as there is a place.
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

// finish answers by serve and ends the line.
func (c *stdioConn) respond(x *exchange, w *stdioResponse, cancel context.CancelFunc, serve func(*exchange) *Error) {
	defer cancel()
	x.out.event = x.req.ID != nil
	defer func() {
		v := recover()
		w.endLine()
		if v == nil {
			return
		}
		// A method that aborts, or a fault of ours. Over HTTP a broken connection tells that the rest of the answer is missing;
		// here another line has to.
		y, again := c.exchange(c.ctx)
		y.req.ID, y.event.Method = x.req.ID, x.event.Method
		y.writeError(y.internalError("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
		again.endLine()
	}()
	x.run(serve)
}

// line serves a request that came without headers; ss is the session of the stream, nil before initialize.
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
	case string(e.method) == `"ping"`: // the only request that may come before (2025-11-25 lifecycle, Initialization)
		x.useSession(session{})
	default:
		return invalidRequest("send initialize first, or a request of revision %s with its _meta", revision20260728)
	}
	x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
	m, err := x.lookupMethod(e)
	if err != nil {
		return err
	}
	// A line that is not read any more is not a cancellation, and one that is cancelled is not answered: both as in the
	// modern era, so the context is that of the request.
	return x.call(x.req.HTTP.Context(), m)
}
