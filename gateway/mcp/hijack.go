package mcp

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"
)

// streaming is what a request goes on with that has become a stream of changes, or whose client is slow to read its answer.
type continuation struct {
	slowReader bool                  // it is an answer
	first      func() error          // sends what goes first on the stream; nil: run does it, or it is out
	run        func(context.Context) // goes on to the end of the stream
	conn       *hijackedConn         // the stream's; nil: it is net/http's
}

// takenConn is an HTTP/1.1 connection that was taken from net/http, and the writer of
// its answer. What net/http keeps for an open stream is several times what the stream
// needs: buffers for requests that will not come, a goroutine that has served one, and
// one that waits for the client to leave. Here one goroutine waits, with a small stack.
type hijackedConn struct {
	net.Conn
	extraBytes int     // bytes that the client has sent since its request
	next       [1]byte // the next of them
}

// maxSaid is how much a client may send on the connection of a stream before the stream
// ends: line ends behind a body are harmless, and another request won't be answered.
const maxExtraBytes = 16

// takeOver has rest run in a goroutine of its own, with the connection in our hands, so that
// the server's handler can return. The header is out then, as net/http makes it, and what
// goes first on the stream. It is false, and the stream as it was, if the connection can't be
// taken: that of HTTP/2 belongs to other requests as well.
func (x *exchange) hijackStream(rest func()) bool {
	w := &x.out
	_, can := w.rw.(http.Hijacker)
	if !can || x.continuation.first == nil || !x.req.HTTP.ProtoAtLeast(1, 1) || x.req.HTTP.ProtoMajor != 1 {
		return false
	}
	w.rw.Header()["Connection"] = w.h.headers.close
	if x.sendFirst() != nil {
		return false
	}
	c, err := w.hijack()
	if err != nil {
		return false
	}
	x.useHijacked(c)
	go func() {
		defer x.h.recoverPanic("a stream of changes was told")
		defer func() { _ = c.Close() }() // also after a panic: only a broken connection tells the client
		c.run(rest)
	}()
	return true
}

// keep makes a connection that was taken that of the exchange, which is to outlive the handler.
func (x *exchange) useHijacked(c *hijackedConn) {
	r := x.req.HTTP.WithContext(context.WithoutCancel(x.req.HTTP.Context())) // net/http ends it when the handler returns
	r.Body = http.NoBody
	x.req.HTTP, x.continuation.conn = r, c
}

// takeOver takes the connection of an answer whose beginning is out.
func (w *responseWriter) hijack() (*hijackedConn, error) {
	w.sse.mu.Lock() // a keepAlive must not come in between
	defer w.sse.mu.Unlock()
	conn, rw, err := w.controller.Hijack()
	if err != nil {
		return nil, err
	}
	c := &hijackedConn{Conn: conn, extraBytes: rw.Reader.Buffered()}
	w.rw, w.controller = c, http.NewResponseController(c)
	return c, nil
}

// serve runs the rest of a stream; false: it was broken off.
func (c *hijackedConn) run(rest func()) (whole bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(v)
		}
	}()
	rest()
	return true
}

// hangUp ends an answer on a connection that was taken, and the connection. Of others
// net/http does.
func (x *exchange) closeHijacked() {
	c := x.continuation.conn
	if c == nil {
		return
	}
	if x.out.healthy() {
		_ = c.SetWriteDeadline(time.Now().Add(x.out.stallTimeout))
		_, _ = c.Conn.Write([]byte("0\r\n\r\n")) // the last chunk; there is nobody left to tell of an error
	}
	_ = c.Close()
}

// caught is deferred by a goroutine that has no request above it: a panic there would end the process.
func (h *Handler) recoverPanic(what string) {
	if v := recover(); v != nil {
		h.o.OnPanic(what, v)
	}
}

// wait returns when the client has left, or said what it should not, or when interrupt is
// called.
func (c *hijackedConn) waitForClose() {
	for c.extraBytes <= maxExtraBytes {
		if _, err := c.Read(c.next[:]); err != nil {
			return
		}
		c.extraBytes++
	}
}

// interrupt ends wait, now and for ever.
func (c *hijackedConn) interrupt() { _ = c.SetReadDeadline(time.Unix(1, 0)) }

// Write writes b as one chunk (RFC 9112 section 7.1).
func (c *hijackedConn) Write(b []byte) (int, error) {
	if len(b) == 0 { // which would be the last
		return 0, nil
	}
	chunk := strconv.AppendInt(make([]byte, 0, len(b)+20), int64(len(b)), 16)
	chunk = append(append(append(chunk, "\r\n"...), b...), "\r\n"...)
	if _, err := c.Conn.Write(chunk); err != nil {
		return 0, err
	}
	return len(b), nil
}

// FlushError does nothing: what is written is on its way.
func (c *hijackedConn) FlushError() error { return nil }

// Header returns none: that of the answer is out.
func (c *hijackedConn) Header() http.Header { return http.Header{} }

// WriteHeader does nothing.
func (c *hijackedConn) WriteHeader(int) {}
