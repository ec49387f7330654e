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
const readPatience = 10 * time.Millisecond

// SlowReaders are the clients that have not taken an answer yet that is kept for all. An answer under way in net/http takes some 50 KiB: the
// deep stack of a handler, buffers, and a goroutine that waits for the client to leave; whoever asks for a long list and does not
// read it would get that for nothing. So such a connection is taken from net/http when its client is not quick, and one goroutine with a small stack writes
// the rest, in the same time. The zero value is good. It is safe for concurrent use.
type SlowReaders struct {
	// Again takes a connection whose answer is out, and what its client has sent since the request: it is served anew. nil: it is closed.
	Again func(conn net.Conn, said []byte)
	// GivenUp is called for each answer that its client took too long to read; nil: nobody is told.
	GivenUp func()

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	ended bool
	none  chan struct{} // closed when there are none left; nil: nobody waits
}

// End takes no more, and returns when all have their answers. When ctx ends it closes the connections of those that have not, and
// returns its error.
func (r *SlowReaders) End(ctx context.Context) error {
	r.mu.Lock()
	if r.ended = true; r.none == nil {
		r.none = make(chan struct{})
		r.left()
	}
	r.mu.Unlock()
	select {
	case <-r.none:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	for c := range r.conns {
		_ = c.Close()
	}
	r.mu.Unlock()
	<-r.none
	return ctx.Err()
}

// Count tells how many there are.
func (r *SlowReaders) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

// enter is false if there are to be no more.
func (r *SlowReaders) enter(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return false
	}
	if r.conns == nil {
		r.conns = make(map[net.Conn]struct{})
	}
	r.conns[c] = struct{}{}
	return true
}

func (r *SlowReaders) leave(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	r.left()
}

// left is called with mu when there may be none left.
func (r *SlowReaders) left() {
	if r.none == nil || len(r.conns) > 0 {
		return
	}
	select {
	case <-r.none:
	default:
		close(r.none)
	}
}

// lend ends an answer whose header and beginning are there with a text that is kept for all, and what follows it.
func (r *Reply) lend(text, end []byte) error {
	x := r.x
	s := &x.out
	_, can := s.w.(io.ReaderFrom)
	if !can || x.h.o.SlowReaders == nil || !s.http1 || s.live.open || len(text) < borrowSize {
		s.raw(text)
		s.raw(end)
		return s.finish()
	}
	text, err := s.offer(text, x.h.patience)
	if err == nil && len(text) > 0 {
		if s.event {
			end = append(end, eventEnd...)
		}
		s.release()
		x.lag(text, bytes.Clone(end))
		return nil
	}
	s.raw(end)
	return s.finish()
}

// lag leaves it to the end of the request to send what of its answer the client has not taken.
func (x *exchange) lag(rest ...[]byte) {
	x.req.ID, x.req.Params, x.req.Arguments, x.req.Meta = nil, nil, nil, Meta{} // the body is not needed any more
	x.listens = &streaming{lags: true, run: func(context.Context) {
		for _, piece := range rest {
			x.out.write(piece)
		}
		if x.out.close() != nil {
			x.event.Code = CodeCancelled
			x.out.status = statusClientGone
		}
	}}
}

// offer sends what the stream holds, and of a text as much as the client takes without a pause as long as patience. It returns the rest of the text.
func (s *stream) offer(text []byte, patience time.Duration) ([]byte, error) {
	if s.send(); s.err == nil {
		s.err = s.control.Flush() // net/http then has nothing of its own to send
	}
	if s.err != nil {
		return nil, s.err
	}
	o := &offer{s: s, text: text, patience: patience}
	if _, err := s.w.(io.ReaderFrom).ReadFrom(o); s.err == nil { //nolint:errcheck // lend has looked
		s.err = err
	}
	return o.text, s.err
}

// offer is what is left of a text. net/http has the connection itself read it where that is a socket in clear. What is written so passes none of net/http's
// buffers, for which an error is an error for ever, so that a deadline may pass and the connection is as good as before.
type offer struct {
	s        *stream
	text     []byte
	patience time.Duration
}

// WriteTo writes what w takes, to its connection.
func (o *offer) WriteTo(w io.Writer) (n int64, err error) {
	conn, direct := w.(interface{ SetWriteDeadline(t time.Time) error })
	if !direct { // net/http, after all
		o.s.write(o.text)
		n, o.text = int64(len(o.text)), nil
		return n, o.s.err
	}
	for len(o.text) > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(o.patience)); err != nil {
			return n, err
		}
		written, err := w.Write(o.text)
		o.text = o.text[written:]
		o.s.size += int64(written)
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
func (o *offer) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

// takeLate has rest run in a goroutine of its own that holds the connection, so that the server's handler can return. It is false if that can't be: net/http then goes on to
// send the answer.
func (x *exchange) takeLate(rest func()) bool {
	s, readers := &x.out, x.h.o.SlowReaders
	again := !x.req.HTTP.Close && len(s.w.Header()["Connection"]) == 0
	conn, rw, err := s.control.Hijack()
	if err != nil {
		return false
	}
	said, _ := rw.Reader.Peek(rw.Reader.Buffered()) // which is there
	said = bytes.Clone(said)                        // and net/http's buffer is not needed any more
	c := &takenConn{Conn: conn}
	s.w = lateConn{c}
	s.control = http.NewResponseController(s.w)
	x.keep(c)
	if !readers.enter(conn) { // the process ends, and waits for nobody any more
		_ = conn.Close()
		c.serve(rest)
		return true
	}
	go func() {
		defer x.h.caught("an answer was sent to a client that is slow to read")
		released := false
		defer func() { // also after a panic
			if !released {
				_ = conn.Close()
				readers.leave(conn)
			}
		}()
		if c.serve(rest) && again && s.err == nil && readers.release(conn) {
			released = true
			_ = conn.SetWriteDeadline(time.Time{})
			readers.Again(conn, said)
			return
		}
		if readers.GivenUp != nil && errors.Is(s.err, os.ErrDeadlineExceeded) {
			readers.GivenUp()
		}
	}()
	return true
}

// release is leave for a connection that is to be served anew; false: it is not, and did not leave.
func (r *SlowReaders) release(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.Again == nil {
		return false
	}
	delete(r.conns, c)
	return true
}

// lateConn writes an answer whose header is out, and told its length.
type lateConn struct{ *takenConn }

// Write writes b as it is.
func (c lateConn) Write(b []byte) (int, error) { return c.Conn.Write(b) }
