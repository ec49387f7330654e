package upstream

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"drawbridge/gateway/trailer"
)

// cleartextConn is a connection of [cleartext]. One call has it at a time.
type cleartextConn struct {
	net.Conn
	pool *cleartext
	host string
	r    *bufio.Reader
	w    *bufio.Writer
	// isQuiet reports whether the service has sent nothing on the idle connection.
	isQuiet func() bool
	end     func()        // closes the connection, so that the call under way ends; made once
	since   time.Time     // when the last call ended
	limit   time.Duration // how long the connection may be idle

	used    int   // calls before this one
	left    int64 // bytes that may still be read; maxHeaderBytes until the first of this call's answer comes
	written int64 // bytes of this call's request that were given to the socket
	lost    error // what broke the connection under this call; nil: nothing did, or time ran out
}

func newCleartextConn(pool *cleartext, conn net.Conn, host string) *cleartextConn {
	c := &cleartextConn{Conn: conn, pool: pool, host: host, isQuiet: pool.look(conn), limit: maxRest}
	c.r, c.w = bufio.NewReader(reading{c}), bufio.NewWriter(writing{c})
	c.end = func() { conn.Close() }
	return c
}

// errHeadTooLong is what reading on returns.
var errHeadTooLong = fmt.Errorf("the head of the answer is longer than %d bytes", maxHeaderBytes)

// headBegin is how a head begins; what begins otherwise is not HTTP, broken off or not.
const headBegin = "HTTP/"

// reading and writing are the two directions of a connection, which count what passes.
type (
	reading struct{ *cleartextConn }
	writing struct{ *cleartextConn }
)

func (c reading) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errHeadTooLong
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.lost = err
	}
	return n, err
}

func (c writing) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.written += int64(n)
	c.lost = err
	return n, err
}

// hasExpired reports whether an idle connection has been idle for as long as it may be.
func (c *cleartextConn) hasExpired() bool { return time.Since(c.since) >= c.limit }

// isAlive reports whether the service has neither closed an idle connection nor sent something that was not asked for, which must not
// become the next call's answer. until is the time from which reading fails; a passed one would look like an end.
func (c *cleartextConn) isAlive(until time.Time) bool {
	_ = c.SetReadDeadline(until)
	return c.isQuiet()
}

// exchange sends a request and reads the head of the answer. If it fails, the connection is closed.
func (c *cleartextConn) exchange(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	c.left, c.written, c.lost = maxHeaderBytes, 0, nil
	stop := context.AfterFunc(ctx, c.end)
	resp, err := c.send(req)
	if err != nil {
		stop()
		c.Close()
		if ended := context.Cause(ctx); ended != nil {
			err = ended
		}
		return nil, err
	}
	c.left = math.MaxInt64
	if limit, ok := idleTime(resp.Header); ok {
		c.limit = limit
	}
	again := !resp.Close && c.lost == nil && resp.StatusCode >= http.StatusOK && c.limit > 0
	if resp.Body == http.NoBody {
		c.done(stop, again)
		return resp, nil
	}
	if int64(c.r.Buffered()) < resp.ContentLength || resp.ContentLength < 0 { // else the rest is here
		_ = c.SetReadDeadline(time.Time{})
	}
	resp.Body = &cleartextBody{from: resp.Body, resp: resp, conn: c, stop: stop, again: again}
	return resp, nil
}

// send writes a request and reads the head of its answer. A service may answer before it has got all of the request, and close the
// connection: what it said is read even though it took no more.
func (c *cleartextConn) send(req *http.Request) (*http.Response, error) {
	err := req.Write(c.w) // it closes the body
	if err == nil {
		err = c.w.Flush()
	}
	err = cmp.Or(c.lost, err) // Write hides the former in an error of its own
	if err != nil && (c.lost == nil || c.written == 0) {
		return nil, err
	}
	for { // interim answers (1xx) count for the length of the head, so there is an end
		begin, _ := c.r.Peek(len(headBegin))
		isHTTP := strings.HasPrefix(headBegin, string(begin))
		resp, silent := http.ReadResponse(c.r, req)
		if silent != nil {
			switch { // what was cut off may look like something else
			case c.left <= 0:
				silent = errHeadTooLong
			case c.lost != nil && isHTTP:
				silent = fmt.Errorf("the connection ended within the head of the answer: %w", c.lost)
			}
			return nil, cmp.Or(err, silent)
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			return resp, nil
		}
	}
}

// done ends a call. The connection is kept if it may be used again and nothing more came over it than the answer.
func (c *cleartextConn) done(stop func() bool, again bool) {
	if stop() && again && c.r.Buffered() == 0 {
		c.pool.put(c)
	} else {
		c.Close()
	}
}

// cleartextBody is the body of an answer. At its end it gives the connection back; closed before, it closes it, also while another
// goroutine reads.
type cleartextBody struct {
	from  io.Reader // closing it would read all that the service sends, so nobody does
	resp  *http.Response
	conn  *cleartextConn
	stop  func() bool
	again bool
	ended atomic.Bool
	whole bool // the end was read; for the goroutine that reads
}

// Read implements [io.Reader].
func (b *cleartextBody) Read(p []byte) (int, error) {
	switch {
	case b.whole:
		return 0, io.EOF
	case b.ended.Load():
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.from.Read(p)
	if errors.Is(err, io.EOF) {
		if broken := trailer.Check(b.resp.Trailer); broken != nil {
			err = broken
		}
	}
	if err != nil && b.ended.CompareAndSwap(false, true) {
		b.whole = errors.Is(err, io.EOF)
		b.conn.done(b.stop, b.again && b.whole)
	}
	return n, err
}

// Close implements [io.Closer]. There is no error that would tell anything.
func (b *cleartextBody) Close() error {
	if b.ended.CompareAndSwap(false, true) {
		b.stop()
		b.conn.Close()
	}
	return nil
}
