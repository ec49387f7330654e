package upstream

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"

	"drawbridge/gateway/trailer"
)

// trailerGuard checks the trailers of answers over HTTP/1.1 that net/http reads, and keeps the time for which connections may be idle. When net/http
// reports the end of an answer, it has kept the connection already, so that is remembered to be closed.
type trailerGuard struct {
	next      http.RoundTripper
	protocols *protocols
}

// RoundTrip implements [http.RoundTripper].
func (g trailerGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	if g.protocols.http2.Load() {
		return g.next.RoundTrip(req)
	}
	used := &usedConn{}
	resp, err := g.next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: used.got})))
	if err != nil {
		return nil, used.failed(err)
	}
	resp.Request = req
	if resp.ProtoMajor != 1 {
		return resp, nil
	}
	limited := used.heed(resp.Header)
	if resp.Body == nil || resp.Body == http.NoBody {
		used.rest()
	} else if limited || len(resp.TransferEncoding) > 0 {
		resp.Body = &trailerBody{ReadCloser: resp.Body, resp: resp, used: used}
	}
	return resp, nil
}

// usedConn is the connection of a call.
type usedConn struct {
	mu    sync.Mutex
	conn  net.Conn
	timed *timedConn // conn, or the one below it; nil if there is none

	number  int  // of the call at timed
	expired bool // conn was idle for too long
}

func (u *usedConn) got(info httptrace.GotConnInfo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conn = info.Conn
	if u.timed = timedConnOf(info.Conn); u.timed != nil {
		u.number, u.expired = u.timed.use()
	}
}

// failed returns the error of a call that got no response.
func (u *usedConn) failed(err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.expired {
		return errExpired{err}
	}
	return err
}

// heed takes the time that a response sets for the connection, and reports whether the connection has one.
func (u *usedConn) heed(h http.Header) (limited bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.timed != nil && u.timed.heed(h)
}

// rest ends the call, from which on the connection is idle.
func (u *usedConn) rest() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.timed != nil {
		u.timed.rest(u.number)
	}
}

func (u *usedConn) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	conn := u.conn
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // without the TLS close_notify, which could block on the service
	}
	if conn != nil {
		conn.Close()
	}
}

// trailerBody checks the trailer at the end of a body, which is the end of the call.
type trailerBody struct {
	io.ReadCloser
	resp *http.Response
	used *usedConn
	err  error
}

// Read implements [io.Reader].
func (b *trailerBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if b.err = trailer.Check(b.resp.Trailer); b.err != nil {
			b.used.close()
			return n, b.err
		}
		b.used.rest()
	}
	return n, err
}
