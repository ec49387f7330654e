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

// trailerGuard checks the trailers of answers over HTTP/1.1 that net/http reads. When net/http reports the end of an answer, it has
// kept the connection already, so that is remembered to be closed.
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
		return nil, err
	}
	resp.Request = req
	if resp.ProtoMajor == 1 && len(resp.TransferEncoding) > 0 && resp.Body != nil && resp.Body != http.NoBody {
		resp.Body = &trailerBody{ReadCloser: resp.Body, resp: resp, used: used}
	}
	return resp, nil
}

// usedConn is the connection of a call.
type usedConn struct {
	mu   sync.Mutex
	conn net.Conn
}

func (u *usedConn) got(info httptrace.GotConnInfo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conn = info.Conn
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

// trailerBody checks the trailer at the end of a body.
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
	}
	return n, err
}
