package state

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

const (
	// maxReply is the most bytes of a text in what Redis says: more than a message of maxMessage has, sealed.
	maxReply = 3 << 20
	// maxReplyLine is that of a line, such as an error, and maxReplyParts the most items of a list.
	maxReplyLine  = 16 << 10
	maxReplyParts = 1 << 12
)

// errLargeReply is of a connection on which more is announced than we ever ask for. Whoever may write to a channel could announce half a gigabyte,
// for which the client would make room at once.
var errLargeReply = errors.New("what Redis sends is too large")

// dial connects to Redis. The context bounds the handshake of TLS, too.
func (s *Shared) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := &net.Dialer{Timeout: probeTimeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3}}
	if s.o.TLS != nil {
		c, err := (&tls.Dialer{NetDialer: d, Config: s.o.TLS}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &boundedConn{Conn: c}, nil
	}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	plain, ok := c.(syscall.Conn)
	if !ok {
		return &boundedConn{Conn: c}, nil
	}
	return &boundedSocket{boundedConn{Conn: c}, plain}, nil
}

// boundedConn is a connection that fails when what is announced on it is too large.
type boundedConn struct {
	net.Conn
	replies replyBounds // of the one who reads
}

// Read implements [net.Conn].
func (c *boundedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.replies.take(p[:n]) {
		return 0, errLargeReply
	}
	return n, err
}

// boundedSocket is a boundedConn of which can be seen, without reading, whether the other end has closed it.
type boundedSocket struct {
	boundedConn
	plain syscall.Conn
}

// SyscallConn implements [syscall.Conn].
func (c *boundedSocket) SyscallConn() (syscall.RawConn, error) { return c.plain.SyscallConn() }

// replyBounds follows the replies of Redis (RESP 2 and 3) as far as it takes to know the sizes that they announce.
type replyBounds struct {
	skip   int64 // bytes of a text that are to come, with the line break behind it
	line   int   // bytes of a line that were seen
	kind   byte  // its first
	number int64 // that it announces; -1: none
}

// take sees what has come; false: too much is announced.
func (b *replyBounds) take(p []byte) bool {
	for len(p) > 0 {
		if b.skip > 0 {
			n := min(b.skip, int64(len(p)))
			b.skip -= n
			p = p[n:]
			continue
		}
		c := p[0]
		p = p[1:]
		switch {
		case b.line == 0:
			b.kind, b.number, b.line = c, 0, 1
		case c == '\n':
			if b.line = 0; b.number >= 0 && (b.kind == '$' || b.kind == '=' || b.kind == '!') {
				b.skip = b.number + 2
			}
		default:
			if b.line++; b.line > maxReplyLine || !b.digit(c) {
				return false
			}
		}
	}
	return true
}

// digit sees a byte of a line behind the first; false: the line announces too much.
func (b *replyBounds) digit(c byte) bool {
	most := int64(maxReplyParts)
	switch b.kind {
	case '$', '=', '!':
		most = maxReply
	case '*', '%', '~', '>', '|':
	default:
		return true
	}
	switch {
	case c == '-':
		b.number = -1
	case b.number >= 0 && '0' <= c && c <= '9':
		b.number = 10*b.number + int64(c-'0')
	}
	return b.number <= most
}
