package listener

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
)

// Conn is a connection of a [Listener], which knows how far its client has come with a request and gives its place back when it is closed. Like each
// [net.Conn] it is safe for concurrent use.
type Conn struct {
	net.Conn
	listener *Listener
	key      netip.Prefix
	stage    atomic.Int32
	first    []byte // read before the server has it, and read again by the server
	close    sync.Once
}

// stage is how far a connection has come.
type stage int32

const (
	silent      stage = iota // nothing was sent yet
	resting                  // nothing was sent since the last answer
	parked                   // resting, outside of the server
	sending                  // a part of a request's head was sent, or of what TLS and HTTP/2 begin with
	served                   // a request is served, over HTTP/1
	multiplexed              // HTTP/2
	hijacked                 // the server has given it away
	late                     // it was given up, since it sent no request in time
)

func (c *Conn) at() stage                { return stage(c.stage.Load()) }
func (c *Conn) to(s stage)               { c.stage.Store(int32(s)) }
func (c *Conn) turn(from, to stage) bool { return c.stage.CompareAndSwap(int32(from), int32(to)) }

// connOf returns the connection of a listener that the server has, with TLS or without; nil if it is none.
func connOf(conn net.Conn) *Conn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*Conn)
	return c
}

// Read implements [io.Reader].
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		if c.first = c.first[n:]; len(c.first) == 0 {
			c.first = nil
		}
		return n, nil
	}
	if c.at() == late { // net/http waits a second time where the first time was for the preface of HTTP/2
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Read(p)
	switch s := c.at(); {
	case s > sending:
	case n > 0:
		c.turn(s, sending)
	case s != resting && errors.Is(err, os.ErrDeadlineExceeded) && c.turn(s, late):
		c.listener.limiter.metrics.late(s)
	}
	return n, err
}

// ReadFrom writes the bytes of r. net/http looks for it, so that a long text passes none of its buffers.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite tells the client that there is no more to come. net/http looks for it before it closes a connection whose request it has not read to its
// end, so that the client reads the answer before its connection fails.
func (c *Conn) CloseWrite() error {
	if w, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.close.Do(func() { c.listener.limiter.leave(c) })
	return c.Conn.Close()
}
