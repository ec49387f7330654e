package upstream

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// A trailer ends a chunked answer. net/http takes more for one than HTTP allows: names with spaces, and fields that say how a message
// is framed. Two parties that read such a field in different ways disagree about where the answer ends, so that the rest of it may become
// the next call's answer. So the answer is an error, and the connection is closed.

// framingFields are fields that a trailer must not have, because they say how a message is framed or routed (RFC 9110 section 6.5.1).
var framingFields = []string{"Connection", "Content-Encoding", "Content-Length", "Content-Range", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// checkTrailer returns an error for a trailer that must not be accepted.
func checkTrailer(trailer http.Header) error {
	for name, values := range trailer {
		switch {
		case values == nil: // announced, and not sent
		case !httpguts.ValidHeaderFieldName(name):
			return fmt.Errorf("the trailer of the answer has a field with the name %.60q", name)
		case slices.Contains(framingFields, http.CanonicalHeaderKey(name)):
			return fmt.Errorf("the trailer of the answer has the field %s, which belongs to the head", http.CanonicalHeaderKey(name))
		}
	}
	return nil
}

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
		conn = secure.NetConn() // without the farewell, for which the service might be waited
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
		if b.err = checkTrailer(b.resp.Trailer); b.err != nil {
			b.used.close()
			return n, b.err
		}
	}
	return n, err
}
