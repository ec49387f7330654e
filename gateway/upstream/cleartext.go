package upstream

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// cleartext makes calls over HTTP/1.1 without TLS, as most calls to services within a network are. With net/http each connection
// has two goroutines, and a call is handed to one of them and comes back from the other; here the goroutine of the
// call writes the request and reads the answer itself, which takes a sixth off what a small call costs (docs/contributing/adr/0017). What goes over the wire
// is written and read by net/http all the same: [http.Request.Write] and [http.ReadResponse]. It is safe for concurrent use.
type cleartext struct {
	dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	firstByte time.Duration            // from the request to the head of its answer
	most      int                      // idle connections to one host
	panicked  func(what string, v any) // nil: nobody is told
	look      func(net.Conn) func() bool
	off       bool // connections are no sockets that can be looked at, so that net/http makes the calls

	mu     sync.Mutex
	idle   map[string][]*cleartextConn // by the host of the URL; the one that was used last is at the end
	sweep  *time.Timer                 // runs as long as there are idle connections
	closed bool                        // nothing is kept any more
}

const (
	// maxWritten is the longest request that is written before the answer is looked at. It fits into the buffers of
	// the two sockets, so that a service that answers before it has read all can't hold the call up.
	maxWritten = 32 << 10
	// sweepEvery is the time between two looks at the idle connections.
	sweepEvery = 15 * time.Second
)

func newCleartext(dial func(ctx context.Context, network, addr string) (net.Conn, error), firstByte time.Duration, most int) *cleartext {
	return &cleartext{dial: dial, firstByte: firstByte, most: most, look: lookAt, idle: make(map[string][]*cleartextConn)}
}

// takes reports whether a request is one of those that are made here. The others are net/http's: those that are long or of no known
// length, that ask for more than an answer, and what it refuses, such as a line break in a header.
func (c *cleartext) takes(req *http.Request) bool {
	return canLook && !c.off && req.URL != nil && req.URL.Scheme == "http" && req.URL.Host != "" && req.Header != nil && isASCII(req.URL.Host) &&
		req.Method != http.MethodConnect && (req.Method == "" || httpguts.ValidHeaderFieldName(req.Method)) && // both are tokens
		!req.Close && req.Trailer == nil && len(req.TransferEncoding) == 0 &&
		(req.Body == nil && req.ContentLength == 0 || req.Body == http.NoBody || req.Body != nil && req.ContentLength > 0) &&
		req.Header["Expect"] == nil && req.Header["Connection"] == nil && req.Header["Upgrade"] == nil && isShort(req)
}

// isShort reports whether a request has at most maxWritten bytes, and headers that [http.Request.Write] need not mend.
func isShort(req *http.Request) bool {
	left := maxWritten - req.ContentLength - int64(3*len(req.URL.Path)+len(req.URL.RawQuery)) // a path may have to be escaped
	for name, values := range req.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, v := range values {
			if left -= int64(len(name) + len(v) + len(": \r\n")); !httpguts.ValidHeaderFieldValue(v) {
				return false
			}
		}
	}
	return left >= 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// RoundTrip implements [http.RoundTripper].
func (c *cleartext) RoundTrip(req *http.Request) (*http.Response, error) {
	return c.send(req, c.firstByte)
}

// send is RoundTrip with a time of its own for the head; 0: as long as the call takes. A request that came to nothing because a connection that had been idle broke is sent
// again as by net/http: if no byte of it was sent, or if it may be repeated (see mayRepeat) and no byte of an answer came.
func (c *cleartext) send(req *http.Request, firstByte time.Duration) (*http.Response, error) {
	for {
		conn, err := c.take(req, firstByte)
		if err != nil {
			if req.Body != nil {
				req.Body.Close()
			}
			return nil, err
		}
		resp, err := conn.exchange(req)
		if err == nil {
			return resp, nil
		}
		if conn.used == 0 || conn.lost == nil || conn.left < maxHeaderBytes || conn.written > 0 && !mayRepeat(req) {
			return nil, err
		}
		if req, err = withBodyAgain(req, err); err != nil {
			return nil, err
		}
	}
}

// withBodyAgain returns a request that can be sent again, with its body from the beginning. The error is cause if the body can't be had again.
func withBodyAgain(req *http.Request, cause error) (*http.Request, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	if req.GetBody == nil {
		return nil, cause
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	again := req.WithContext(req.Context())
	again.Body = body
	return again, nil
}

// mayRepeat reports what net/http takes for replayable, unless the request is marked (exact.go).
func mayRepeat(req *http.Request) bool {
	if isNoReplay(req.Context()) {
		return false
	}
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	for _, name := range keyHeaders {
		if _, ok := req.Header[name]; ok {
			return true
		}
	}
	return false
}

// take returns an idle connection that is alive, or a new one, from which the head of an answer must come within firstByte (see send). A call
// that has ended gets none: nothing of it may be sent.
func (c *cleartext) take(req *http.Request, firstByte time.Duration) (*cleartextConn, error) {
	ctx := req.Context()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	conn := c.last(req.URL.Host)
	for conn != nil && (conn.hasExpired() || !conn.isAlive(within(firstByte))) {
		conn.Close()
		conn = c.last(req.URL.Host)
	}
	if conn != nil {
		conn.used++
	} else {
		raw, err := c.dial(ctx, "tcp", net.JoinHostPort(req.URL.Hostname(), cmp.Or(req.URL.Port(), "80")))
		if err != nil {
			return nil, err
		}
		_ = raw.SetReadDeadline(within(firstByte))
		conn = newCleartextConn(c, raw, req.URL.Host)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{Conn: conn.Conn, Reused: conn.used > 0})
	}
	return conn, nil
}

// within returns the time at which d has passed; none for 0.
func within(d time.Duration) time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Now().Add(d)
}

// last takes the connection out that was used last; nil: there is none.
func (c *cleartext) last(host string) *cleartextConn {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.idle[host]
	if len(kept) == 0 {
		return nil
	}
	conn := kept[len(kept)-1]
	c.idle[host] = slices.Delete(kept, len(kept)-1, len(kept))
	return conn
}

// put keeps a connection for the next call.
func (c *cleartext) put(conn *cleartextConn) {
	conn.since = time.Now()
	c.mu.Lock()
	kept := c.idle[conn.host]
	if c.closed || len(kept) >= c.most {
		c.mu.Unlock()
		conn.Close()
		return
	}
	c.idle[conn.host] = append(kept, conn)
	if c.sweep == nil {
		c.sweep = time.AfterFunc(sweepEvery, c.clean)
	}
	c.mu.Unlock()
}

// clean closes idle connections that have rested long enough, or that the service has closed.
func (c *cleartext) clean() {
	defer func() { // a timer has nobody above it
		if v := recover(); v != nil && c.panicked != nil {
			c.panicked("idle connections were closed", v)
		}
	}()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep = nil
	for host, kept := range c.idle {
		c.idle[host] = slices.DeleteFunc(kept, func(conn *cleartextConn) bool {
			if !conn.hasExpired() && conn.isAlive(time.Time{}) {
				return false
			}
			conn.Close()
			return true
		})
		if len(c.idle[host]) == 0 {
			delete(c.idle, host)
		}
	}
	if len(c.idle) > 0 {
		c.sweep = time.AfterFunc(sweepEvery, c.clean)
	}
}

// close closes the idle connections, and the others when their calls have ended.
func (c *cleartext) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, kept := range c.idle {
		for _, conn := range kept {
			conn.Close()
		}
	}
	clear(c.idle)
}
