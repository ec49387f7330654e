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

// readPatience is how long a client may take nothing of a kept text before its connection is taken from net/http: longer than it takes to
// wake up and read, on the same machine or in the same network. It is no bound on the answer, which has stall.
const defaultReadPatience = 10 * time.Millisecond

// SlowReaders are the clients that have not taken an answer yet that is kept for all. An answer under way in net/http takes some 50 KiB: the
// deep stack of a handler, buffers, and a goroutine that waits for the client to leave; whoever asks for a long list and does not
// read it would get that for nothing. So such a connection is taken from net/http when its client is not quick, and one goroutine with a small stack writes
// the rest, in the same time. The zero value is good. It is safe for concurrent use.
type SlowReaders struct {
	// Again takes a connection whose answer is out, and what its client has sent since the request: it is served anew. nil: it is closed.
	Reuse func(conn net.Conn, said []byte)
	// GivenUp is called for each answer that its client took too long to read; nil: nobody is told.
	OnTimeout func()

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	drained bool
	empty   chan struct{} // closed when there are none left; nil: nobody waits
}

// End takes no more, and returns when all have their answers. When ctx ends it closes the connections of those that have not, and
// returns its error.
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

// Count tells how many there are.
func (r *SlowReaders) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

// enter is false if there are to be no more.
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

// left is called with mu when there may be none left.
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

// lend ends an answer whose header and beginning are there with a text that is kept for all, and what follows it.
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

// lag leaves it to the end of the request to send what of its answer the client has not taken.
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

// offer sends what the stream holds, and of a text as much as the client takes without a pause as long as patience. It returns the rest of the text.
func (w *responseWriter) sendShared(text []byte, patience time.Duration) ([]byte, error) {
	if w.sendHeld(); w.err == nil {
		w.err = w.controller.Flush() // net/http then has nothing of its own to send
	}
	if w.err != nil {
		return nil, w.err
	}
	o := &sharedText{out: w, text: text, patience: patience}
	if _, err := w.rw.(io.ReaderFrom).ReadFrom(o); w.err == nil { //nolint:errcheck // lend has looked
		w.err = err
	}
	return o.text, w.err
}

// offer is what is left of a text. net/http has the connection itself read it where that is a socket in clear. What is written so passes none of net/http's
// buffers, for which an error is an error for ever, so that a deadline may pass and the connection is as good as before.
type sharedText struct {
	out      *responseWriter
	text     []byte
	patience time.Duration
}

// WriteTo writes what w takes, to its connection.
func (o *sharedText) WriteTo(w io.Writer) (n int64, err error) {
	conn, direct := w.(interface{ SetWriteDeadline(t time.Time) error })
	if !direct { // net/http, after all
		o.out.writeConn(o.text)
		n, o.text = int64(len(o.text)), nil
		return n, o.out.err
	}
	for len(o.text) > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(o.patience)); err != nil {
			return n, err
		}
		written, err := w.Write(o.text)
		o.text = o.text[written:]
		o.out.written += int64(written)
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

// Read is there for [io.Reader]: whoever copies an offer asks it to write itself.
func (o *sharedText) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// takeLate has rest run in a goroutine of its own that holds the connection, so that the server's handler can return. It is false if that can't be: net/http then goes on to
// send the answer.
func (x *exchange) hijackSlowReader(rest func()) bool {
	w, readers := &x.out, x.h.o.SlowReaders
	again := !x.req.HTTP.Close && len(w.rw.Header()["Connection"]) == 0
	conn, rw, err := w.controller.Hijack()
	if err != nil {
		return false
	}
	said, _ := rw.Reader.Peek(rw.Reader.Buffered()) // which is there
	said = bytes.Clone(said)                        // and net/http's buffer is not needed any more
	c := &hijackedConn{Conn: conn}
	w.rw = unframedConn{c}
	w.controller = http.NewResponseController(w.rw)
	x.useHijacked(c)
	if !readers.add(conn) { // the process ends, and waits for nobody any more
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
		if c.run(rest) && again && w.err == nil && readers.handBack(conn) {
			released = true
			_ = conn.SetWriteDeadline(time.Time{})
			readers.Reuse(conn, said)
			return
		}
		if readers.OnTimeout != nil && errors.Is(w.err, os.ErrDeadlineExceeded) {
			readers.OnTimeout()
		}
	}()
	return true
}

// release is leave for a connection that is to be served anew; false: it is not, and did not leave.
func (r *SlowReaders) handBack(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drained || r.Reuse == nil {
		return false
	}
	delete(r.conns, c)
	return true
}

// lateConn writes an answer whose header is out, and told its length.
type unframedConn struct{ *hijackedConn }

// Write writes b as it is.
func (c unframedConn) Write(b []byte) (int, error) { return c.Conn.Write(b) }
