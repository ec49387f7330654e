package http1

import (
	"net"
	"sync"
	"time"
)

// watchAfter is how long a request has run when its connection is looked at for the first time: an answer that takes less costs nothing, and a client that leaves is
// noticed soon after it.
const watchAfter = 5 * time.Millisecond

// watch notices that a client leaves while its request is served, by reading on: what it gets is the next request's, which net/http does not take for
// leaving either.
type watch struct {
	conn  net.Conn
	left  func() // is called when the client has left
	timer *time.Timer
	reads sync.WaitGroup // done when nobody reads, and nobody will
	said  []byte         // what was read; it belongs to who reads until then

	mu   sync.Mutex
	over bool
}

// begin looks at a connection from watchAfter on, until end.
func (w *watch) begin(conn net.Conn, left func(), panicked func(string, any)) {
	w.conn, w.left = conn, left
	w.reads.Add(1)
	w.timer = time.AfterFunc(watchAfter, func() {
		defer w.reads.Done()
		defer func() {
			if v := recover(); v != nil {
				panicked("a connection was looked at", v)
			}
		}()
		w.read()
	})
}

func (w *watch) read() {
	if !w.allowed() {
		return
	}
	var b [1]byte
	n, err := w.conn.Read(b[:])
	w.said = append(w.said, b[:n]...)
	if err != nil && !isTimeout(err) {
		w.left()
	}
}

// allowed takes back the deadline for reading, unless the end has set one.
func (w *watch) allowed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		_ = w.conn.SetReadDeadline(time.Time{}) // a connection that is broken tells so when it is read
	}
	return !w.over
}

// end stops looking, and returns what came behind a request: after, and what was read.
func (w *watch) end(after []byte) []byte {
	if w.timer == nil || w.timer.Stop() {
		return after
	}
	w.mu.Lock()
	w.over = true
	_ = w.conn.SetReadDeadline(time.Unix(1, 0))
	w.mu.Unlock()
	w.reads.Wait()
	_ = w.conn.SetReadDeadline(time.Time{})
	return append(after, w.said...)
}

func isTimeout(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}
