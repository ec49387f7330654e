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
	// maxReply is the maximum size of a bulk string from Redis: more than a sealed message of
	// maxMessage needs.
	maxReply = 3 << 20
	// maxReplyLine limits a line, such as an error, and maxReplyParts the items of a list.
	maxReplyLine  = 16 << 10
	maxReplyParts = 1 << 12
)

// errLargeReply is the error of a connection that announces a larger reply than is ever requested.
// Anybody with write access to a channel could announce half a gigabyte, which the client would
// allocate at once.
var errLargeReply = errors.New("what Redis sends is too large")

// dial connects to Redis. The context also limits the TLS handshake.
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

// boundedConn is a connection that fails when too large a reply is announced.
type boundedConn struct {
	net.Conn
	replies replyBounds // of the reader
}

// Read implements [net.Conn].
func (c *boundedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.replies.scan(p[:n]) {
		return 0, errLargeReply
	}
	return n, err
}

// boundedSocket is a boundedConn on which a close by the peer can be detected without reading.
type boundedSocket struct {
	boundedConn
	plain syscall.Conn
}

// SyscallConn implements [syscall.Conn].
func (c *boundedSocket) SyscallConn() (syscall.RawConn, error) { return c.plain.SyscallConn() }

// replyBounds parses the replies of Redis (RESP 2 and 3) as far as needed to know the sizes that
// they announce.
type replyBounds struct {
	skip   int64 // remaining bytes of a string, with the line break after it
	line   int   // bytes of the current line
	kind   byte  // its first byte
	number int64 // the size that it announces; -1 if none
}

// scan parses received bytes, and returns false if too large a reply is announced.
func (b *replyBounds) scan(p []byte) bool {
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

// digit parses a byte of a line after the first, and returns false if the announced size is too
// large.
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
