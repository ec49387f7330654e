package faultnet

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Conn is a connection whose writes go the way of a script. It works on any connection, also those of net.Pipe in a
// bubble of testing/synctest. Writes must not be concurrent; everything else may be.
type Conn struct {
	net.Conn
	way    Way
	random *rand.Rand
	sent   int64
	closed chan struct{}
	once   sync.Once
	other  io.Closer // is reset or closed with this one; nil: none
}

// Wrap makes the writes to c go that way.
func Wrap(c net.Conn, w Way, seed uint64) *Conn { return wrap(c, w, random(seed, 0), nil) }

func wrap(c net.Conn, w Way, r *rand.Rand, other io.Closer) *Conn {
	return &Conn{Conn: c, way: w, random: r, closed: make(chan struct{}), other: other}
}

// Write passes p on piece by piece. After the end of the way it fails with [net.ErrClosed]; in a stall it returns when
// the connection is closed.
func (c *Conn) Write(p []byte) (written int, err error) {
	for written < len(p) {
		if c.way.End != Never && c.sent >= c.way.After {
			return written, c.end()
		}
		piece := c.piece(p[written:])
		if !c.wait(len(piece)) {
			return written, net.ErrClosed
		}
		n, err := c.Conn.Write(c.corrupted(piece))
		c.sent += int64(n)
		written += n
		if err != nil {
			return written, err
		}
	}
	if c.way.End != Never && c.sent >= c.way.After {
		return written, c.end() // at once, and not when there is more to say
	}
	return written, nil
}

// piece is what is written at once: no more than a slice, and nothing behind the end.
func (c *Conn) piece(p []byte) []byte {
	n := int64(len(p))
	if c.way.Slice > 0 {
		n = min(n, int64(c.way.Slice))
	}
	if c.way.Rate > 0 {
		n = min(n, max(1, int64(c.way.Rate)/20)) // 50 ms of it
	}
	if c.way.End != Never {
		n = min(n, c.way.After-c.sent)
	}
	return p[:n]
}

// wait is false if the connection was closed meanwhile.
func (c *Conn) wait(bytes int) bool {
	d := c.way.Latency
	if c.way.Jitter > 0 {
		d += time.Duration(c.random.Int64N(int64(c.way.Jitter) + 1))
	}
	if c.way.Rate > 0 {
		d += time.Duration(bytes) * time.Second / time.Duration(c.way.Rate)
	}
	if d == 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.closed:
		return false
	}
}

// corrupted is the piece with a bit of the byte flipped that the script names.
func (c *Conn) corrupted(piece []byte) []byte {
	at := c.way.Corrupt - 1 - c.sent
	if c.way.Corrupt == 0 || at < 0 || at >= int64(len(piece)) {
		return piece
	}
	changed := append([]byte(nil), piece...)
	changed[at] ^= 0x01
	return changed
}

// end does what the script has for the end. The error ends the copying of this direction.
func (c *Conn) end() error {
	if c.way.Ended != nil {
		c.way.Ended(time.Now())
	}
	switch c.way.End {
	case Reset:
		linger(c.Conn)
		c.closeBoth()
	case Close:
		c.closeBoth()
	case HalfClose:
		closeWrite(c.Conn)
	case Stall:
		<-c.closed
	case Never:
	}
	return net.ErrClosed
}

func (c *Conn) closeBoth() {
	_ = c.Close()
	if c.other != nil {
		if o, ok := c.other.(net.Conn); ok && c.way.End == Reset {
			linger(o)
		}
		_ = c.other.Close()
	}
}

// Close closes the connection, and wakes a write that waits.
func (c *Conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// linger makes the close of a TCP connection a reset.
func linger(c net.Conn) {
	if w, ok := c.(*Conn); ok {
		c = w.Conn
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
}

func closeWrite(c net.Conn) {
	if w, ok := c.(*Conn); ok {
		c = w.Conn
	}
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite()
		return
	}
	_ = c.Close() // a pipe has no halves
}
