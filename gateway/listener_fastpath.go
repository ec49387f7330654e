package gateway

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"time"

	"drawbridge/gateway/http1"
)

// Answering is how plain requests are answered in front of net/http (docs/contributing/adr/0019).
type Answering struct {
	Handler http.Handler
	// BaseContext gives the context that those of all requests come from, as [http.Server] has it.
	BaseContext func() context.Context
	// MaxHeader is the most bytes of a head. Longer ones are net/http's, which refuses them.
	MaxHeader int
	// AnswerTimeout is how long a write may take for which the handler has set no deadline.
	AnswerTimeout time.Duration
}

// plain answers plain requests.
type plain struct {
	Answering
	server http1.Server
}

// Answer has plain requests over HTTP/1.1 without TLS answered by the goroutine that has waited for them; see gateway/http1. It is called before Accept.
func (a *Arrivals) Answer(o Answering) {
	if a.tls {
		return
	}
	a.plain = &plain{o, http1.Server{
		Handler: o.Handler, Closing: a.closing.Load, AnswerTimeout: o.AnswerTimeout, Took: a.given, Panicked: a.all.g.panicked,
	}}
}

// attendant is a goroutine in front of net/http. It is counted among those that wait, or among those that answer.
type attendant struct {
	a  *Arrivals
	in *int // a.waiting or a.serving
}

// goes runs f in a goroutine, which waits, unless all has ended.
func (a *Arrivals) goes(f func(*attendant)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hasEnded() {
		return false
	}
	at := &attendant{a, &a.waiting}
	a.waiting++
	go func() {
		defer at.end()
		f(at)
	}()
	return true
}

func (at *attendant) end() {
	at.a.mu.Lock()
	defer at.a.mu.Unlock()
	at.turn(nil)
}

// turn is called with mu, when the goroutine is to be counted among others.
func (at *attendant) turn(to *int) {
	*at.in--
	if at.in = to; to != nil {
		*to++
	}
	at.a.fewer.Broadcast()
}

func (a *Arrivals) hasEnded() bool {
	select {
	case <-a.ended:
		return true
	default:
		return false
	}
}

// Idle returns when no request is answered here, or with an error when ctx ends. After Close no other begins.
func (a *Arrivals) Idle(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.fewer.Broadcast()
	})()
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.serving > 0 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.fewer.Wait()
	}
	return nil
}

// Abort closes the connections on which requests are answered here.
func (a *Arrivals) Abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for c, s := range a.conns {
		if s == served {
			_ = c.Conn.Close() // its goroutine gives the place back
		}
	}
}

// wait serves a connection whose request, of which c.first has come, is on its way.
func (a *Arrivals) wait(c *boundedConn) {
	c.from = a
	a.mu.Lock()
	a.await(c)
	a.mu.Unlock()
	if !a.goes(func(at *attendant) { at.attend(c) }) {
		_ = c.Close()
	}
}

// await is called with mu, when a connection waits for a request.
func (a *Arrivals) await(c *boundedConn) {
	c.waits.Store(true)
	if c.served {
		a.enter(c, resting)
	} else {
		a.enter(c, silent)
	}
}

// attend has a connection served until somebody else has it, or it is closed.
func (at *attendant) attend(c *boundedConn) {
	out := false
	at.a.all.g.survive("requests of a connection were waited for", func() { out = at.serve(c) })
	if !out {
		_ = c.Close()
	}
}

// serve waits for requests of a connection, and answers them as long as they are plain. It reports whether somebody else has the connection.
func (at *attendant) serve(c *boundedConn) bool {
	for at.a.arrive(c) {
		if c.refused { // who is refused again and again does not hold up the others
			runtime.Gosched()
		}
		r, size := at.a.plain.request(c)
		if r == nil {
			return at.a.handOut(c)
		}
		switch at.answer(c, r, size) {
		case http1.Again: // and again
		case http1.Taken:
			return true
		case http1.Ended:
			return false
		}
	}
	return false
}

// request returns the plain request that is there, and how many bytes it has; nil: it is net/http's.
func (p *plain) request(c *boundedConn) (*http.Request, int) {
	if p == nil || c.late {
		return nil, 0
	}
	r, size := http1.Request(c.first)
	if r != nil && size-int(r.ContentLength) > p.MaxHeader {
		return nil, 0
	}
	return r, size
}

// answer answers a request. What is there of the next is in c.first then.
func (at *attendant) answer(c *boundedConn, r *http.Request, size int) (fate http1.Fate) {
	if !at.begin(c) {
		return http1.Ended
	}
	defer func() { fate = at.ended(c, fate) }()
	if c.remote == "" {
		c.remote = c.RemoteAddr().String()
	}
	first, p := c.first, at.a.plain
	c.first = nil // the rest is read from the connection
	got := p.server.Serve(p.BaseContext(), c, c.remote, r, first[size:])
	if got.Fate != http1.Again { // somebody else may have it
		return got.Fate
	}
	c.served, c.refused, c.first = true, got.Status >= http.StatusBadRequest, got.Next
	if len(got.Next) == 0 && cap(first) <= 2*firstRead {
		c.first = first[:0]
	}
	return got.Fate
}

// begin notes that a connection is served; false: it was closed, or all has ended.
func (at *attendant) begin(c *boundedConn) bool {
	a := at.a
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.conns[c]; !ok || a.hasEnded() {
		return false
	}
	c.waits.Store(false) // its answer begins
	a.enter(c, served)
	at.turn(&a.serving)
	a.left()
	return true
}

// ended notes what became of a connection that was served. One that would go on doesn't when all has ended.
func (at *attendant) ended(c *boundedConn, fate http1.Fate) http1.Fate {
	a := at.a
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case fate == http1.Taken: // which given has noted
	case fate == http1.Again && !a.hasEnded():
		at.turn(&a.waiting)
		a.await(c)
	default:
		a.leave(c)
		return http1.Ended
	}
	return fate
}

// given notes that a connection belongs to who has asked for it.
func (a *Arrivals) given(conn net.Conn) {
	if c, ok := conn.(*boundedConn); ok {
		a.answered(c)
	}
}
