//go:build unix

package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// CanLook tells that [Conn.IsQuiet] knows.
const CanLook = true

// longest is how many bytes are moved without the scheduler's knowledge: to copy them takes some 20 µs.
const longest = 64 << 10

// Conn is a connection of [Direct]. Like each [net.Conn] it is safe for concurrent use.
type Conn struct {
	stream
	raw syscall.RawConn
	in  transfer
	out transfer

	look  func(fd uintptr) bool // nil: nobody has called IsQuiet
	quiet bool                  // what look has found, with in.mu
}

// stream is a connection of package net over which bytes come in the order in which they were sent.
type stream interface {
	net.Conn
	syscall.Conn
	CloseWrite() error
}

// transfer is one direction of a connection.
type transfer struct {
	mu    sync.Mutex            // held by who moves something
	moves func(fd uintptr) bool // moves bytes of rest; false: the socket has none, or no room
	rest  []byte                // where the next bytes go, or come from
	n     int                   // bytes that were moved
	waits atomic.Bool           // of writing: there was no room, and the other side has sent nothing since
	err   error                 // why no more are
}

// Direct returns conn as a [Conn] if it is a stream of package net (TCP, or Unix), and any other as it is.
func Direct(conn net.Conn) net.Conn {
	s := streamOf(conn)
	if s == nil {
		return conn
	}
	raw, err := s.SyscallConn()
	if err != nil { // it is the zero value, of which reading tells so
		return conn
	}
	c := &Conn{stream: s, raw: raw}
	c.in.moves, c.out.moves = c.in.receive, c.out.send
	return c
}

// streamOf returns nil for what is none, and for what was reset so soon that it has no address.
func streamOf(conn net.Conn) stream {
	at := conn.LocalAddr()
	if at == nil {
		return nil
	}
	switch c := conn.(type) {
	case *net.TCPConn:
		return c
	case *net.UnixConn:
		if at.Network() == "unix" { // else it is of datagrams
			return c
		}
	}
	return nil
}

// Read implements [io.Reader].
func (c *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 || len(p) > longest {
		return c.stream.Read(p)
	}
	n, err := c.in.move(p, c.raw.Read)
	switch {
	case err != nil:
		return n, c.fault("read", err)
	case n == 0:
		return 0, io.EOF
	}
	if c.out.waits.Load() {
		c.out.waits.Store(false)
	}
	return n, nil
}

// Write implements [io.Writer]. A connection whose other side once did not read in time is written with package net until that sends something: there
// may be thousands of such, and where many goroutines have something to do the monitor should be awake.
func (c *Conn) Write(p []byte) (int, error) {
	if len(p) == 0 || len(p) > longest || c.out.waits.Load() {
		return c.stream.Write(p)
	}
	n, err := c.out.move(p, c.raw.Write)
	if err != nil {
		err = c.fault("write", err)
	}
	return n, err
}

// IsQuiet reports whether the other side of an idle connection has neither sent anything nor closed it. What it has sent may be lost.
// It does not wait, and is false once the deadline for reading has passed.
func (c *Conn) IsQuiet() bool {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	if c.look == nil {
		one := make([]byte, 1)
		c.look = func(fd uintptr) bool {
			_, errno := readNow(fd, one)
			c.quiet = errno == syscall.EAGAIN
			return true // don't wait
		}
	}
	return c.raw.Read(c.look) == nil && c.quiet
}

// move has p moved by one of the two functions of [syscall.RawConn], which waits whenever the socket makes it wait.
func (t *transfer) move(p []byte, when func(func(fd uintptr) bool) error) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest, t.n, t.err = p, 0, nil
	err := when(t.moves)
	t.rest = nil
	if err == nil {
		err = t.err
	}
	return t.n, err
}

// receive reads once, as [net.Conn] does.
func (t *transfer) receive(fd uintptr) bool {
	n, errno := readNow(fd, t.rest)
	if errno == syscall.EAGAIN {
		return false
	}
	if errno != 0 {
		t.err = errno
	} else {
		t.n = n
	}
	return true
}

// send writes all.
func (t *transfer) send(fd uintptr) bool {
	for len(t.rest) > 0 {
		n, errno := writeNow(fd, t.rest)
		switch {
		case errno == syscall.EAGAIN:
			t.waits.Store(true)
			return false
		case errno != 0:
			t.err = errno
			return true
		case n == 0: // a kernel has no reason to; package net thinks of it, too
			t.err = io.ErrUnexpectedEOF
			return true
		}
		t.n, t.rest = t.n+n, t.rest[n:]
	}
	return true
}

// fault is the error that package net would return.
func (c *Conn) fault(op string, err error) error {
	if raw := (*net.OpError)(nil); errors.As(err, &raw) {
		err = raw.Err
	} else if errno := syscall.Errno(0); errors.As(err, &errno) {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: c.LocalAddr().Network(), Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
