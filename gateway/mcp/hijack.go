package mcp

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"
)

// continuation is the rest of a response that outlives the method: a subscription stream, or a response to a slow
// reader.
type continuation struct {
	slowReader bool                  // false for a subscription stream
	first      func() error          // sends the first message; nil if run does, or if it has been sent
	run        func(context.Context) // runs to the end of the response
	conn       *hijackedConn         // nil if net/http has the connection
}

// hijackedConn is a hijacked HTTP/1.1 connection and the writer of the response on it. For an open stream net/http
// keeps several times the memory that the stream needs: buffers for requests that will not come, the goroutine of the
// handler, and one that waits for a disconnect. Here one goroutine with a small stack waits.
type hijackedConn struct {
	net.Conn
	extraBytes int     // bytes that the client has sent after its request
	next       [1]byte // buffer for the next of them
}

// maxExtraBytes limits what a client may send after its request before the stream ends: line ends behind a body are
// harmless, another request would not be answered.
const maxExtraBytes = 16

// hijackStream runs rest in its own goroutine on the hijacked connection, so that the server's handler can return. The
// header, as net/http writes it, and the first message have been sent by then. It returns false and leaves the stream
// as it was if the connection can't be hijacked, as with HTTP/2, where it carries other requests too.
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
		defer func() { _ = c.Close() }() // also after a panic: only a closed connection tells the client
		c.run(rest)
	}()
	return true
}

// useHijacked attaches a hijacked connection to the exchange, which outlives the handler from then on.
func (x *exchange) useHijacked(c *hijackedConn) {
	r := x.req.HTTP.WithContext(context.WithoutCancel(x.req.HTTP.Context())) // net/http ends it when the handler returns
	r.Body = http.NoBody
	x.req.HTTP, x.continuation.conn = r, c
}

// hijack hijacks the connection of a response whose beginning has been sent.
func (w *responseWriter) hijack() (*hijackedConn, error) {
	w.sse.mu.Lock() // no keep-alive comment may come in between
	defer w.sse.mu.Unlock()
	conn, rw, err := w.controller.Hijack()
	if err != nil {
		return nil, err
	}
	c := &hijackedConn{Conn: conn, extraBytes: rw.Reader.Buffered()}
	w.rw, w.controller = c, http.NewResponseController(c)
	return c, nil
}

// run runs the rest of a response, and returns false if it panicked with http.ErrAbortHandler.
func (c *hijackedConn) run(rest func()) (whole bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			panic(v)
		}
	}()
	rest()
	return true
}

// closeHijacked ends the response on a hijacked connection and closes it. net/http does so for other connections.
func (x *exchange) closeHijacked() {
	c := x.continuation.conn
	if c == nil {
		return
	}
	if x.out.healthy() {
		_ = c.SetWriteDeadline(time.Now().Add(x.out.stallTimeout))
		_, _ = c.Conn.Write([]byte("0\r\n\r\n")) // the last chunk; an error can't be reported to anyone
	}
	_ = c.Close()
}

// recoverPanic is deferred by goroutines without a request: a panic there would end the process.
func (h *Handler) recoverPanic(what string) {
	if v := recover(); v != nil {
		h.o.OnPanic(what, v)
	}
}

// waitForClose returns when the client has disconnected or sent more than maxExtraBytes, or when interrupt is called.
func (c *hijackedConn) waitForClose() {
	for c.extraBytes <= maxExtraBytes {
		if _, err := c.Read(c.next[:]); err != nil {
			return
		}
		c.extraBytes++
	}
}

// interrupt ends waitForClose, now and for all later calls.
func (c *hijackedConn) interrupt() { _ = c.SetReadDeadline(time.Unix(1, 0)) }

// Write writes b as one chunk (RFC 9112 section 7.1).
func (c *hijackedConn) Write(b []byte) (int, error) {
	if len(b) == 0 { // would be the last chunk
		return 0, nil
	}
	chunk := strconv.AppendInt(make([]byte, 0, len(b)+20), int64(len(b)), 16)
	chunk = append(append(append(chunk, "\r\n"...), b...), "\r\n"...)
	if _, err := c.Conn.Write(chunk); err != nil {
		return 0, err
	}
	return len(b), nil
}

// FlushError does nothing, since Write does not buffer.
func (c *hijackedConn) FlushError() error { return nil }

// Header returns an empty header, since that of the response has been sent.
func (c *hijackedConn) Header() http.Header { return http.Header{} }

// WriteHeader does nothing.
func (c *hijackedConn) WriteHeader(int) {}
