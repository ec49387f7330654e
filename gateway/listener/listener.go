package listener

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lastLook is how long connections that wait for nothing but their next request are kept at the end of service, since one may be on its way.
	lastLook = 100 * time.Millisecond
	// drainLook is the time between two looks at what is on its way.
	drainLook = 5 * time.Millisecond
)

// Listener accepts connections within the limits of a [Limiter]. One that is too many is closed before anything is read from it: thousands of them cost a
// descriptor for a moment each. It is safe for concurrent use.
type Listener struct {
	net.Listener
	limiter *Limiter
	server  *http.Server // nil until Attach

	draining  atomic.Bool
	stop, end sync.Once
	stopped   error         // of closing the socket
	ended     chan struct{} // closed by Close
}

// Listener bounds the connections of a listener.
func (l *Limiter) Listener(inner net.Listener) *Listener {
	return &Listener{Listener: inner, limiter: l, ended: make(chan struct{})}
}

// Attach has l follow the connections of a server that is to serve them. It sets the server's ConnState and ConnContext, and is called once, before
// [http.Server.Serve].
func (l *Listener) Attach(s *http.Server) {
	l.server = s
	s.ConnState = l.follow
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, connOf(conn))
	}
	next := s.Handler
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, _ := r.Context().Value(connKey{}).(*Conn); c != nil && r.ProtoMajor == 1 {
			c.to(served)
		}
		next.ServeHTTP(w, r)
	})
}

type connKey struct{}

// follow is the server's [http.Server.ConnState]. An HTTP/1 connection becomes idle after a handler has run; one that does before has spoken HTTP/2.
func (l *Listener) follow(conn net.Conn, s http.ConnState) {
	c := connOf(conn)
	switch {
	case c == nil:
	case s == http.StateHijacked:
		c.to(hijacked)
	case s == http.StateIdle && !c.turn(served, resting):
		c.to(multiplexed)
	}
}

// Accept returns the next connection within the limits. After Drain it blocks until Close, because a server takes the end of its
// listener for a failure unless it is shutting down.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			if l.draining.Load() && errors.Is(err, net.ErrClosed) {
				<-l.ended
			}
			return nil, err
		}
		if c := l.limiter.admit(l, conn); c != nil {
			return c, nil
		}
	}
}

// Drain stops accepting connections, and returns when no connection is in the middle of a request's head. Then the server can shut down
// without dropping a request that it has begun to read. A head may take as long as the server's ReadHeaderTimeout. Idle connections, and
// those that have sent nothing, are closed after a moment. Drain also returns when ctx ends.
func (l *Listener) Drain(ctx context.Context) {
	l.draining.Store(true)
	_ = l.stopAccepting() // Close returns the error
	for begin := time.Now(); ; {
		took := time.Since(begin)
		var waiting int
		var quiet []*Conn
		l.each(func(c *Conn) {
			switch s := c.at(); {
			case s == sending && took < l.headTimeout(), s < sending && took < lastLook:
				waiting++
			case s < sending:
				quiet = append(quiet, c)
			}
		})
		for _, c := range quiet {
			_ = c.Close()
		}
		if waiting == 0 {
			return
		}
		select {
		case <-time.After(drainLook):
		case <-ctx.Done():
			return
		}
	}
}

func (l *Listener) headTimeout() time.Duration {
	if l.server == nil {
		return 0
	}
	return l.server.ReadHeaderTimeout
}

// each calls f with each open connection.
func (l *Listener) each(f func(*Conn)) {
	l.limiter.mu.Lock()
	defer l.limiter.mu.Unlock()
	for c := range l.limiter.conns {
		if c.listener == l {
			f(c)
		}
	}
}

func (l *Listener) stopAccepting() error {
	l.stop.Do(func() { l.stopped = l.Listener.Close() })
	return l.stopped
}

// Close closes the listener, and idle connections that the server does not hold. The server closes all others.
func (l *Listener) Close() error {
	err := l.stopAccepting()
	l.end.Do(func() {
		close(l.ended)
		var out []*Conn
		l.each(func(c *Conn) {
			if c.at() == parked {
				out = append(out, c)
			}
		})
		for _, c := range out {
			_ = c.Close()
		}
	})
	return err
}

// ServeAgain returns a hijacked connection to its server for the next request. said is the beginning of that request, as far as it was
// read. Without it, ServeAgain waits for the first byte, at most the IdleTimeout of the server. A connection that can't be served again
// is closed.
func ServeAgain(conn net.Conn, said []byte) {
	c, ok := conn.(*Conn)
	if !ok || c.listener.server == nil {
		_ = conn.Close()
		return
	}
	l := c.listener
	c.to(parked)
	if c.first = said; len(said) == 0 && !l.awaitRequest(c) {
		_ = c.Close()
		return
	}
	c.to(sending)
	one := &oneConn{conn: c}
	_ = l.server.Serve(one) // which returns at once, with the error of oneConn
	if one.conn != nil {    // the server is shutting down
		_ = c.Close()
	}
}

// awaitRequest reads the first byte of the next request. It returns false if none comes.
func (l *Listener) awaitRequest(c *Conn) bool {
	select {
	case <-l.ended:
		return false
	default:
	}
	if l.draining.Load() {
		return false
	}
	_ = c.SetReadDeadline(time.Now().Add(l.server.IdleTimeout))
	b := make([]byte, 1)
	if _, err := c.Conn.Read(b); err != nil {
		return false
	}
	_ = c.SetReadDeadline(time.Time{})
	c.first = b
	return true
}

// oneConn is a listener of one connection.
type oneConn struct{ conn *Conn }

func (o *oneConn) Accept() (net.Conn, error) {
	if o.conn == nil {
		return nil, net.ErrClosed
	}
	c := o.conn
	o.conn = nil
	return c, nil
}

func (o *oneConn) Close() error   { return nil }
func (o *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
