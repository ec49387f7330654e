package upstream

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
)

// protocols are those that an API's connections have spoken so far.
type protocols struct{ http1, http2 atomic.Bool }

// note takes in what was negotiated for a connection.
func (p *protocols) note(conn *tls.Conn) {
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		p.http2.Store(true)
	} else {
		p.http1.Store(true)
	}
}

// once returns a request that net/http does not send twice by itself, where that
// would not be right.
//
// Over HTTP/1 its own repetitions are fine but for requests that are marked (exact.go): of what is not idempotent it repeats
// only what was not written. Over HTTP/2 it also repeats a stream that the
// service reset with PROTOCOL_ERROR (golang.org/issue/47635), whatever the
// method, though only REFUSED_STREAM and GOAWAY say that a request was not looked
// at (RFC 9113 section 8.7). A request with a body that can't be had again is
// left alone then, and its error tells which of these it was; for one without a
// body there is a watch on where it is written.
func (p *protocols) once(req *http.Request) *http.Request {
	marked := isExact(req.Context())
	if p == nil || Idempotent(req.Method) && !marked {
		return req
	}
	if marked {
		// Before anything was spoken there is no connection in the pool, and so no repetition over HTTP/1.
		req = unrepeated(req, req.URL.Scheme != "https" || p.http1.Load())
	}
	if req.URL.Scheme != "https" {
		return req
	}
	if _, keyed := req.Header["Idempotency-Key"]; keyed {
		return req
	}
	// What has spoken HTTP/1 alone may speak HTTP/2 on a connection that is yet to be made for this request.
	http1 := p.http1.Load() && !p.http2.Load()
	if req.Body != nil && req.Body != http.NoBody {
		own := req.WithContext(req.Context())
		own.GetBody = nil
		if again := req.GetBody; http1 && again != nil {
			own.GetBody = func() (io.ReadCloser, error) {
				if p.http2.Load() {
					return nil, errWritten
				}
				return again()
			}
		}
		return own
	}
	w := &watch{}
	ctx, cancel := context.WithCancelCause(req.Context()) // ends with the call's own
	w.cancel = func() {
		if !http1 || p.http2.Load() {
			cancel(errWritten)
		}
	}
	return req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: w.gotConn, WroteHeaders: w.wroteHeaders}))
}

// watch ends a request before it is written to a second connection. On the same
// connection net/http repeats what was refused with REFUSED_STREAM, and nothing else.
type watch struct {
	cancel func()

	mu    sync.Mutex
	conn  net.Conn
	wrote bool
}

// errWritten is why a watch ends a request.
var errWritten = errors.New("the service ended the request without an answer")

func (w *watch) gotConn(info httptrace.GotConnInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrote && info.Conn != w.conn {
		w.cancel()
	}
	w.conn = info.Conn
}

func (w *watch) wroteHeaders() {
	w.mu.Lock()
	w.wrote = true
	w.mu.Unlock()
}

// streamError has the form of that of net/http, which errors.As fills in.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error implements error.
func (e streamError) Error() string { return "stream error" }

// isLostHTTP2 reports whether a connection or a stream of HTTP/2 was ended. Of
// the errors of net/http only the form or the text is known.
func isLostHTTP2(err error) bool {
	var stream streamError
	if errors.As(err, &stream) {
		return true
	}
	text := err.Error()
	for _, known := range []string{
		"http2: client connection lost", "http2: client conn is closed", "http2: client connection force closed",
		"http2: server sent GOAWAY", "http2: Transport received", "http2: Transport: cannot retry err [",
	} {
		if strings.HasPrefix(text, known) {
			return true
		}
	}
	return false
}

// isUnprocessed reports whether the service has said that it did not look at the
// request (RFC 9113 section 8.7).
func isUnprocessed(err error) bool {
	const refusedStream = 7 // RFC 9113 section 7
	var stream streamError
	if errors.As(err, &stream) {
		return stream.Code == refusedStream
	}
	text, ok := strings.CutPrefix(err.Error(), "http2: Transport: cannot retry err [")
	return ok && (strings.HasPrefix(text, "http2: Transport received Server's graceful shutdown GOAWAY]") ||
		strings.HasPrefix(text, "stream error: ") && strings.Contains(text, "; REFUSED_STREAM; received from peer]"))
}
