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
type LineOptions struct {
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
func (h *Handler) ServeLines(ctx context.Context, in io.Reader, out io.Writer, o LineOptions) error {
	if o.MaxRequests <= 0 {
		o.MaxRequests = 1 << 12
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &conversation{
		h: h, o: o, ctx: ctx, out: &lineOutput{w: out, broken: cancel}, slots: make(chan struct{}, o.MaxRequests),
		active: make(map[callKey]*activeLine), ending: make(chan struct{}), changes: func() {},
	}
	read := make(chan error, 1)
	c.running.Go(func() { read <- c.read(in, o.Stop) }) // which answers some lines itself, and who takes the answer may be gone
	var err error
	select {
	case err = <-read:
	case <-o.Stop:
	case <-ctx.Done():
	}
	close(c.ending)
	if o.Drain != nil {
		defer time.AfterFunc(o.Drain(), func() { cancel(ErrDrain) }).Stop()
	}
	c.wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// lastWords is how long requests have that are cancelled for good.
const lastWords = time.Second

// wait returns when no request runs any more, or when those that do should have ended long ago.
func (c *conversation) wait() {
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
	t := time.NewTimer(lastWords)
	defer t.Stop()
	select {
	case <-gone:
	case <-t.C:
	}
}

// conversation is the connection to a client that writes lines. Its methods are called by the goroutine that reads,
// but for wait, which is called by that of ServeLines.
type conversation struct {
	h       *Handler
	o       LineOptions
	ctx     context.Context // of ServeLines: the parent of that of each request
	out     *lineOutput
	session *session // what initialize has agreed on; nil: nothing so far
	slots   chan struct{}
	running sync.WaitGroup
	ending  chan struct{} // closed when no more lines are read
	changes func()        // ends the stream of changes of the session

	mu     sync.Mutex
	active map[callKey]*activeLine
}

// activeLine is a request under way.
type activeLine struct {
	cancel context.CancelFunc
	silent *atomic.Bool // see lineAnswer
}

// read takes one line after the other until there are no more or the end is asked for.
func (c *conversation) read(in io.Reader, stop <-chan struct{}) error {
	lines, quit := make(chan line), make(chan struct{})
	defer close(quit)
	var err error
	go func() {
		defer close(lines)
		r := newLineReader(in, c.h.tuning.Load().MaxBody)
		for {
			var l line
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
			c.take(l)
		case <-stop:
			return nil
		case <-c.ctx.Done():
			return nil
		}
	}
}

// lineAccept makes every answer an event stream, which lineAnswer takes apart. It is never written to.
var lineAccept = http.Header{"Accept": {"text/event-stream"}}

// exchange makes what a request over HTTP would be.
func (c *conversation) exchange(ctx context.Context) (*exchange, *lineAnswer) {
	if c.o.Context != nil {
		ctx = c.o.Context(ctx)
	}
	r := (&http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/"}, Header: lineAccept}).WithContext(ctx)
	w := &lineAnswer{out: c.out, header: make(http.Header)}
	x := c.h.newExchange(w, r)
	x.ending = c.ending
	return x, w
}

// take begins to serve one line.
func (c *conversation) take(l line) {
	ctx, cancel := context.WithCancel(c.ctx)
	x, w := c.exchange(ctx)
	x.event.RequestBytes = l.size
	if l.size > int64(len(l.text)) {
		x.req.ID = l.id
		c.finish(x, w, cancel, func(*exchange) *Error {
			return invalidRequest("the message is larger than %d bytes", c.h.tuning.Load().MaxBody)
		})
		return
	}
	e, fault := open(l.text, c.h.tuning.Load().MaxDepth)
	x.req.ID, x.req.Params = e.id, e.params
	x.req.Era = classify("", &e)
	switch {
	case e.response:
		// Also where it answers nothing that was asked, an error would carry its id, and so look like the answer to a request
		// of the client's own.
		x.req.ID = nil
		c.finish(x, w, cancel, func(x *exchange) *Error { return c.answered(x, l.text) })
	case fault != nil:
		c.finish(x, w, cancel, func(*exchange) *Error { return fault })
	case e.id == nil:
		c.finish(x, w, cancel, func(x *exchange) *Error { return c.notified(x, &e) })
	case x.req.Era == Legacy && string(e.method) == `"initialize"`:
		// At once: what follows, perhaps in the same breath, is said within the session.
		c.finish(x, w, cancel, func(x *exchange) *Error {
			err := x.begin(&e)
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
func (c *conversation) answered(x *exchange, message []byte) *Error {
	x.event.Method = "response"
	if c.session != nil {
		x.enter(*c.session)
		c.h.questions.deliver(c.session.id, message)
	}
	x.out.empty(http.StatusAccepted)
	return nil
}

// notified takes a message without an id. It gets no answer, whatever it is.
func (c *conversation) notified(x *exchange, e *envelope) *Error {
	switch string(e.method) {
	case `"notifications/initialized"`:
		c.tell()
	case `"notifications/cancelled"`:
		if id := jsonscan.Lookup(e.params, "requestId"); validID(id) {
			c.cancel(id)
		}
	}
	if err := x.notification(e); err != nil {
		x.event.failed(err)
	}
	return nil
}

// tell opens what a legacy client over HTTP opens with GET: from now on the session hears of changes.
func (c *conversation) tell() {
	if c.session == nil || c.h.o.Hub == nil {
		return
	}
	c.changes() // of the session before this one
	ctx, cancel := context.WithCancel(c.ctx)
	c.changes = cancel
	ss := *c.session
	x, w := c.exchange(ctx)
	c.running.Go(func() {
		c.finish(x, w, cancel, func(x *exchange) *Error {
			x.req.Era, x.event.Method = Legacy, "GET"
			x.enter(ss)
			err := x.changes(time.Time{})
			if err != nil { // there is no request that it could answer
				x.event.failed(err)
				c.h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a client is not told of changes", slog.Any("error", err))
			}
			return nil
		})
	})
}

// cancel ends a request that is under way.
func (c *conversation) cancel(id []byte) {
	c.mu.Lock()
	a := c.active[newCallKey(&session{}, id)]
	c.mu.Unlock()
	if a != nil {
		a.silent.Store(true)
		a.cancel()
	}
}

// start serves a request in a goroutine of its own, as soon as there is a place.
func (c *conversation) start(x *exchange, w *lineAnswer, cancel context.CancelFunc, e *envelope) {
	select {
	case c.slots <- struct{}{}:
	case <-c.ctx.Done():
		cancel()
		return
	}
	key, a := newCallKey(&session{}, e.id), &activeLine{cancel: cancel, silent: &w.silent}
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
			<-c.slots
		}()
		c.finish(x, w, cancel, func(x *exchange) *Error { return x.line(e, ss) })
	})
}

// finish answers by serve and ends the line.
func (c *conversation) finish(x *exchange, w *lineAnswer, cancel context.CancelFunc, serve func(*exchange) *Error) {
	defer cancel()
	x.out.event = x.req.ID != nil
	defer func() {
		v := recover()
		w.end()
		if v == nil {
			return
		}
		// A method that aborts, or a fault of ours. Over HTTP a broken connection tells that the rest of the answer is missing;
		// here another line has to.
		y, again := c.exchange(c.ctx)
		y.req.ID, y.event.Method = x.req.ID, x.event.Method
		y.fail(y.internal("panic while answering", 0, slog.String("panic", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack()))))
		again.end()
	}()
	x.run(serve)
}

// line serves a request that came without headers; ss is the session of the stream, nil before initialize.
func (x *exchange) line(e *envelope, ss *session) *Error {
	if x.req.Era == Modern {
		version, ok := text(e.metaVersion)
		if !ok {
			return InvalidParams("params._meta needs %q, a string", keyProtocolVersion)
		}
		if x.req.Revision = revision20260728; version != revision20260728 {
			return badVersion(version)
		}
		if err := checkMeta(e); err != nil {
			return err
		}
		return x.modernRequest(e)
	}
	switch {
	case ss != nil:
		x.enter(*ss)
	case string(e.method) == `"ping"`: // the only request that may come before (2025-11-25 lifecycle, Initialization)
		x.enter(session{})
	default:
		return invalidRequest("send initialize first, or a request of revision %s with its _meta", revision20260728)
	}
	x.req.Principal = x.h.o.Principal(x.req.HTTP.Context())
	m, err := x.lookup(e)
	if err != nil {
		return err
	}
	// A line that is not read any more is not a cancellation, and one that is cancelled is not answered: both as in the
	// modern era, so the context is that of the request.
	return x.call(x.req.HTTP.Context(), m)
}
