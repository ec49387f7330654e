package upstream

import (
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A service may say how long it keeps an idle connection: Keep-Alive: timeout=5 (RFC 2068 section 19.7.1.1), as Node.js and Apache do. A
// request that is sent later may meet the end of the connection, and then nobody knows whether it took effect.

// maxRest is how long a connection may be idle at most.
const maxRest = 90 * time.Second

// keepAliveMargin is how much earlier than the service the gateway gives up an idle connection: a request and the service's clock
// need some time.
const keepAliveMargin = time.Second

// idleTime returns how long a connection may be idle by the Keep-Alive header of a response, at most maxRest, and whether the header says
// so. It is 0 if the connection must not be used again.
func idleTime(h http.Header) (limit time.Duration, ok bool) {
	limit = maxRest
	for _, line := range h["Keep-Alive"] {
		for parameter := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(parameter, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "timeout") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(value, " \t\""), 10, 31)
			if err != nil { // no number, or one of more than 68 years
				continue
			}
			limit, ok = min(limit, max(0, time.Duration(seconds)*time.Second-keepAliveMargin)), true
		}
	}
	return limit, ok
}

// timedConn is a connection of net/http's pool that must not be idle for longer than the service allows: the pool has one time for all
// connections.
type timedConn struct {
	net.Conn

	mu    sync.Mutex
	uses  int           // calls so far; none has the number 0
	limit time.Duration // how long the connection may be idle; maxRest unless the service says something else
	since time.Time     // when the last call ended; zero while one is under way
}

// timedConnOf returns the timedConn of a connection of net/http, or nil if it has none.
func timedConnOf(conn net.Conn) *timedConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*timedConn)
	return c
}

// use begins a call and returns its number. expired means that the connection has been idle for too long and is closed now, so that no
// byte of the call is sent over it.
func (c *timedConn) use() (number int, expired bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if expired = !c.since.IsZero() && time.Since(c.since) >= c.limit; expired {
		_ = c.Close()
	}
	c.uses, c.since = c.uses+1, time.Time{}
	return c.uses, expired
}

// heed takes the limit of a response, if it has one, and reports whether the connection has a limit of its own.
func (c *timedConn) heed(h http.Header) (limited bool) {
	limit, ok := idleTime(h)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		c.limit = limit
	}
	return c.limit < maxRest
}

// rest ends a call. net/http returns a connection to its pool before it reports the end of the response, so that the next call may have
// begun.
func (c *timedConn) rest(number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uses == number {
		c.since = time.Now()
	}
}

// errExpired wraps the error of a request that was given a connection that has been idle for too long. Nothing of it was sent.
type errExpired struct{ error }

func (e errExpired) Unwrap() error { return e.error }
