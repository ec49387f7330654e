package http1

import (
	"container/list"
	"net"
	"sync"
	"time"
)

// watchAfter is how long a request has run when its connection is looked at for the first time: an answer that takes less costs nothing, and a client that leaves is
// noticed soon after it.
const watchAfter = 5 * time.Millisecond

// watches are the requests whose connections are not looked at yet. One timer is for all of them: if each had its own, that of the next would
// be the one that is due first, and the runtime wakes a thread for such a one.
type watches struct {
	mu    sync.Mutex
	list  list.List   // of *watch, by when they began
	timer *time.Timer // nil: there was no request
	runs  bool        // the timer
}

// watch notices that a client leaves while its request is served, by reading on: what it gets is the next request's, which net/http does not take for
// leaving either.
type watch struct {
	conn     net.Conn
	left     func() // is called when the client has left
	panicked func(string, any)
	reads    sync.WaitGroup // done when nobody reads
	said     []byte         // what was read; it belongs to who reads until then

	among *watches // nil: it has not begun
	began time.Time
	place *list.Element // in among, with its lock; nil: it is looked at, or has ended

	mu   sync.Mutex
	over bool
}

// begin looks at the connection of w from watchAfter on, until its end.
func (ws *watches) begin(w *watch) {
	w.among, w.began = ws, time.Now()
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.place = ws.list.PushBack(w)
	switch {
	case ws.runs:
		return
	case ws.timer == nil:
		ws.timer = time.AfterFunc(watchAfter, ws.look)
	default:
		ws.timer.Reset(watchAfter)
	}
	ws.runs = true
}

// look begins to read the connections of requests that have run for long enough, and comes again for the others.
func (ws *watches) look() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for e := ws.list.Front(); e != nil; e = ws.list.Front() {
		w := e.Value.(*watch) //nolint:errcheck // nothing else is in there
		if ran := time.Since(w.began); ran < watchAfter {
			ws.timer.Reset(watchAfter - ran)
			return
		}
		ws.take(w)
		w.reads.Go(w.read)
	}
	ws.runs = false
}

// take is called with mu; false: somebody has taken it before.
func (ws *watches) take(w *watch) bool {
	if w.place == nil {
		return false
	}
	ws.list.Remove(w.place)
	w.place = nil
	return true
}

// end stops looking, and returns what came behind a request: after, and what was read.
func (w *watch) end(after []byte) []byte {
	if w.among == nil {
		return after
	}
	w.among.mu.Lock()
	unread := w.among.take(w)
	w.among.mu.Unlock()
	if unread {
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

func (w *watch) read() {
	defer func() {
		if v := recover(); v != nil {
			w.panicked("a connection was looked at", v)
		}
	}()
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

func isTimeout(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}
