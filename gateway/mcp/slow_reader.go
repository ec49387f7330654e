package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// defaultReadPatience is how long a client may read nothing of a shared text before its connection is hijacked: longer
// than a reader on the same machine or network needs to wake up. It does not limit the response, which stallTimeout
// does.
const defaultReadPatience = 10 * time.Millisecond

// SlowReaders tracks the slow readers of shared texts and sends them the rest of their responses. A response in
// progress in net/http takes some 50 KiB: the deep stack of a handler, buffers, and a goroutine that waits for a
// disconnect, which a client could claim by requesting a long list and not reading it. So the connection of a slow
// reader is hijacked, and one goroutine with a small stack writes the rest, within the same time limits. The zero value
// is ready to use. It is safe for concurrent use.
type SlowReaders struct {
	// Reuse takes a connection whose response has been sent, with the bytes that its client has sent since, and serves
	// it again. If nil, the connection is closed.
	Reuse func(conn net.Conn, extra []byte)
	// OnTimeout is called for each response that its client did not read in time. It may be nil.
	OnTimeout func()

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	drained bool
	empty   chan struct{} // closed when no connection is left; nil until Drain
}

// Drain takes no further connections and returns when all responses are sent. When ctx ends, it closes the remaining
// connections and returns the context's error.
func (r *SlowReaders) Drain(ctx context.Context) error {
	r.mu.Lock()
	if r.drained = true; r.empty == nil {
		r.empty = make(chan struct{})
		r.checkEmpty()
	}
	r.mu.Unlock()
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	<-r.empty
	return ctx.Err()
}

// Count returns the number of slow readers.
func (r *SlowReaders) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

// add returns false after Drain.
func (r *SlowReaders) add(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drained {
		return false
	}
	if r.conns == nil {
		r.conns = make(map[net.Conn]struct{})
	}
	r.conns[c] = struct{}{}
	return true
}

func (r *SlowReaders) remove(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	r.checkEmpty()
}

// checkEmpty closes r.empty if no connection is left. The caller holds mu.
func (r *SlowReaders) checkEmpty() {
	if r.empty == nil || len(r.conns) > 0 {
		return
	}
	select {
	case <-r.empty:
	default:
		close(r.empty)
	}
}

// finishShared ends a response that has begun with a shared text and what follows it.
func (r *Reply) finishShared(text, end []byte) error {
	x := r.x
	w := &x.out
	_, can := w.rw.(io.ReaderFrom)
	if !can || x.h.o.SlowReaders == nil || !w.http1 || w.sse.started || len(text) < minBorrowed {
		w.writeJSON(text)
		w.writeJSON(end)
		return w.finish()
	}
	text, err := w.sendShared(text, x.h.readPatience)
	if err == nil && len(text) > 0 {
		if w.event {
			end = append(end, eventEnd...)
		}
		w.release()
		x.sendLater(text, bytes.Clone(end))
		return nil
	}
	w.writeJSON(end)
	return w.finish()
}

// sendLater makes the unread rest of a response the continuation of the exchange.
func (x *exchange) sendLater(rest ...[]byte) {
	x.req.ID, x.req.Params, x.req.Arguments, x.req.Meta = nil, nil, nil, Meta{} // the body is not needed any more
	x.continuation = &continuation{slowReader: true, run: func(context.Context) {
		for _, piece := range rest {
			x.out.writeConn(piece)
		}
		if x.out.close() != nil {
			x.event.Code = CodeCancelled
			x.out.status = statusClientClosed
		}
	}}
}

// sendShared sends what is held, and as much of a text as the client reads without a pause of patience. It returns the
// rest of the text.
func (w *responseWriter) sendShared(text []byte, patience time.Duration) ([]byte, error) {
	if w.sendHeld(); w.err == nil {
		w.err = w.controller.Flush() // net/http's buffer is empty then
	}
	if w.err != nil {
		return nil, w.err
	}
	t := &sharedText{out: w, text: text, patience: patience}
	if _, err := w.rw.(io.ReaderFrom).ReadFrom(t); w.err == nil { //nolint:errcheck // finishShared has checked
		w.err = err
	}
	return t.text, w.err
}

// sharedText is the rest of a text. If the connection is a clear socket, net/http has the connection itself read it,
// past net/http's buffers. Those keep an error for good, whereas here a deadline may pass and the connection remains
// usable.
type sharedText struct {
	out      *responseWriter
	text     []byte
	patience time.Duration
}

// WriteTo writes as much as w accepts without a pause.
func (t *sharedText) WriteTo(w io.Writer) (n int64, err error) {
	conn, direct := w.(interface{ SetWriteDeadline(t time.Time) error })
	if !direct { // net/http's buffered writer
		t.out.writeConn(t.text)
		n, t.text = int64(len(t.text)), nil
		return n, t.out.err
	}
	for len(t.text) > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(t.patience)); err != nil {
			return n, err
		}
		written, err := w.Write(t.text)
		t.text = t.text[written:]
		t.out.written += int64(written)
		switch n += int64(written); {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			if err != nil {
				return n, err
			}
		case written == 0:
			return n, nil
		}
	}
	return n, nil
}

// Read implements [io.Reader]; io.Copy uses WriteTo.
func (t *sharedText) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// hijackSlowReader runs rest in its own goroutine on the hijacked connection, so that the server's handler can return.
// It returns false if the connection can't be hijacked; net/http then sends the response.
func (x *exchange) hijackSlowReader(rest func()) bool {
	w, readers := &x.out, x.h.o.SlowReaders
	reusable := !x.req.HTTP.Close && len(w.rw.Header()["Connection"]) == 0
	conn, rw, err := w.controller.Hijack()
	if err != nil {
		return false
	}
	extra, _ := rw.Reader.Peek(rw.Reader.Buffered()) // does not block: it is buffered
	extra = bytes.Clone(extra)                       // net/http's buffer can be freed
	c := &hijackedConn{Conn: conn}
	w.rw = unframedConn{c}
	w.controller = http.NewResponseController(w.rw)
	x.useHijacked(c)
	if !readers.add(conn) { // shutting down
		_ = conn.Close()
		c.run(rest)
		return true
	}
	go func() {
		defer x.h.recoverPanic("an answer was sent to a client that is slow to read")
		released := false
		defer func() { // also after a panic
			if !released {
				_ = conn.Close()
				readers.remove(conn)
			}
		}()
		if c.run(rest) && reusable && w.err == nil && readers.handBack(conn) {
			released = true
			_ = conn.SetWriteDeadline(time.Time{})
			readers.Reuse(conn, extra)
			return
		}
		if readers.OnTimeout != nil && errors.Is(w.err, os.ErrDeadlineExceeded) {
			readers.OnTimeout()
		}
	}()
	return true
}

// handBack removes a connection that is to be served again. It returns false, and keeps the connection, if it isn't.
func (r *SlowReaders) handBack(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drained || r.Reuse == nil {
		return false
	}
	delete(r.conns, c)
	return true
}

// unframedConn writes a response whose header, with the length, has been sent.
type unframedConn struct{ *hijackedConn }

// Write writes b without chunk framing.
func (c unframedConn) Write(b []byte) (int, error) { return c.Conn.Write(b) }
