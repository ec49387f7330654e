package http1

import (
	"context"
	"net"
	"net/http"
	"time"
)

// Server answers requests on connections that others keep. Its fields are set before it is used; it is then safe for concurrent use.
type Server struct {
	Handler http.Handler
	// Closing tells whether connections end with the answer that is under way.
	Closing func() bool
	// AnswerTimeout is how long a write may take for which the handler has set no deadline.
	AnswerTimeout time.Duration
	// Took is told of a connection before it is given to a handler that asks for it ([http.Hijacker]).
	Took func(net.Conn)
	// Panicked is told of a panic of the handler, as it is recovered, for the stack. [http.ErrAbortHandler] is none.
	Panicked func(what string, v any)

	watches watches
}

// Fate is what becomes of a connection.
type Fate int

const (
	// Ended is that of one that is to be closed.
	Ended Fate = iota
	// Again is that of one on which another request may follow.
	Again
	// Taken is that of one that belongs to somebody else.
	Taken
)

// Result is what came of a request.
type Result struct {
	Fate   Fate
	Status int    // of the answer; 0: there was none
	Next   []byte // what is there of the next request
}

// Serve answers r, behind which after came. Meanwhile nobody else reads conn or writes to it,
// and no deadline for reading counts. remote is the client's address, for [http.Request.RemoteAddr]. The context of the request ends
// with ctx, when the client leaves, and when Serve returns.
func (s *Server) Serve(ctx context.Context, conn net.Conn, remote string, r *http.Request, after []byte) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r = r.WithContext(ctx)
	r.RemoteAddr = remote
	a := &answer{s: s, conn: conn, cancel: cancel, after: after, header: make(http.Header)}
	if len(after) == 0 { // else the next request is there, and a client that left is noticed by what is written
		a.watch.conn, a.watch.left, a.watch.panicked = conn, cancel, s.Panicked
		s.watches.begin(&a.watch)
	}
	again := s.handle(a, r) && a.finish()
	_ = r.Body.Close() // its bytes are the connection's
	switch {
	case a.taken:
		return Result{Fate: Taken, Status: a.status}
	case again:
		return Result{Again, a.status, a.after}
	default:
		a.leave()
		return Result{Fate: Ended, Status: a.status}
	}
}

// handle calls the handler; false: it has panicked.
func (s *Server) handle(a *answer, r *http.Request) (whole bool) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
			s.Panicked("a request was served", v)
		}
	}()
	s.Handler.ServeHTTP(a, r)
	return true
}
