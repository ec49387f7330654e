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

// Conn is a connection of a [Listener]. It tracks the stage of its current request, and its slot is free again when it is closed. Like
// every [net.Conn] it is safe for concurrent use.
type Conn struct {
	net.Conn
	listener *Listener
	key      netip.Prefix
	stage    atomic.Int32
	first    []byte // read before the server has it, and read again by the server
	close    sync.Once
}

// stage is the stage of a connection. [Listener.Drain] closes connections in one of the first three.
type stage int32

const (
	silent      stage = iota // the client has sent nothing yet
	resting                  // idle: nothing was sent since the last response
	parked                   // idle, and not held by the http.Server
	sending                  // a part of a request's head, of the TLS handshake or of the HTTP/2 preface was sent
	served                   // a request is served, over HTTP/1
	multiplexed              // HTTP/2
	hijacked                 // the server no longer owns it
	late                     // it timed out without a request
)

func (c *Conn) at() stage                { return stage(c.stage.Load()) }
func (c *Conn) to(s stage)               { c.stage.Store(int32(s)) }
func (c *Conn) turn(from, to stage) bool { return c.stage.CompareAndSwap(int32(from), int32(to)) }

// connOf returns the connection of a listener behind a connection of the server, with TLS or without, or nil.
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

// ReadFrom writes the bytes of r. net/http uses it, so that long bodies bypass its buffers.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// CloseWrite sends the client the end of the stream. net/http uses it before it closes a connection whose request it has not read
// completely, so that the client reads the response before its connection fails.
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
