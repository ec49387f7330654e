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

// protocols are the HTTP versions that an API's connections have negotiated so far.
type protocols struct{ http1, http2 atomic.Bool }

// observe records the protocol of a connection.
func (p *protocols) observe(conn *tls.Conn) {
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		p.http2.Store(true)
	} else {
		p.http1.Store(true)
	}
}

// preventReplay returns a request that net/http does not send twice by itself where that would be
// wrong.
//
// Over HTTP/1 its own retries are fine, except for marked requests (exact.go): it retries a
// non-idempotent request only if it was not written. Over HTTP/2 it also retries a stream that the
// service reset with PROTOCOL_ERROR (golang.org/issue/47635), whatever the method, though only
// REFUSED_STREAM and GOAWAY mean that a request was not processed (RFC 9113 section 8.7). A request
// with a body without GetBody is not retried then, and its error tells the cause; a request without
// a body gets a resendGuard.
func (p *protocols) preventReplay(req *http.Request) *http.Request {
	marked := isNoReplay(req.Context())
	if p == nil || Idempotent(req.Method) && !marked {
		return req
	}
	if marked {
		// Before the first connection the pool is empty, so there is no retry over HTTP/1.
		req = nonReplayable(req, req.URL.Scheme != "https" || p.http1.Load())
	}
	if req.URL.Scheme != "https" {
		return req
	}
	if _, keyed := req.Header["Idempotency-Key"]; keyed {
		return req
	}
	// A service that has only used HTTP/1 so far may negotiate HTTP/2 on a new connection for this
	// request.
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
	w := &resendGuard{}
	ctx, cancel := context.WithCancelCause(req.Context()) // ends with the call's own
	w.cancel = func() {
		if !http1 || p.http2.Load() {
			cancel(errWritten)
		}
	}
	return req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: w.gotConn, WroteHeaders: w.wroteHeaders}))
}

// resendGuard cancels a request before it is written to a second connection. On the same connection
// net/http retries only after REFUSED_STREAM.
type resendGuard struct {
	cancel func()

	mu    sync.Mutex
	conn  net.Conn
	wrote bool
}

// errWritten is the cause of a request canceled by a resendGuard.
var errWritten = errors.New("the service ended the request without an answer")

func (w *resendGuard) gotConn(info httptrace.GotConnInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrote && info.Conn != w.conn {
		w.cancel()
	}
	w.conn = info.Conn
}

func (w *resendGuard) wroteHeaders() {
	w.mu.Lock()
	w.wrote = true
	w.mu.Unlock()
}

// streamError has the form of the unexported type of net/http, which errors.As fills in.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

// Error implements error.
func (e streamError) Error() string { return "stream error" }

// isLostHTTP2 reports whether an HTTP/2 connection or stream was ended. The errors of net/http are
// known by form or text only.
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

// isUnprocessed reports whether the service has declared that it did not process the request (RFC
// 9113 section 8.7).
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
