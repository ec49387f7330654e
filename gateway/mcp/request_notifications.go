package mcp

import (
	"math"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// How fast notifications of one request may follow each other: so many at once, and
// so many in a second. What is too much is dropped, as the revisions advise
// (2026-07-28 patterns/progress and utilities/logging).
const (
	progressBurst, progressRate = 16, 10
	logBurst, logRate           = 64, 20
)

// told is what a reply has told the client before the answer. It is guarded by the
// stream's lock.
type notificationState struct {
	progress       float64 // the last that was told, or held back
	hasProgress    bool
	heldProgress   []byte // params of the progress that came too fast, nil: none
	progressBucket tokenBucket
	logBucket      tokenBucket
}

// talk returns what was told. The caller holds the stream's lock.
func (r *Reply) notificationState() *notificationState {
	if r.notified == nil {
		r.notified = &notificationState{}
	}
	return r.notified
}

// streams tells whether the client reads an event stream as the answer.
func (x *exchange) acceptsEventStream() bool {
	return x.req.ID != nil && !x.batched && acceptsAny(x.req.HTTP.Header["Accept"], "text/event-stream")
}

// Notify sends a notification before the answer, which becomes an event stream with
// the first. The chunks are members of its params without braces, as in
// [Reply.Result]. A client that does not accept event streams gets none, which is no
// error; one after the answer is. Any other error is the connection's. Notify waits
// until the message is on its way, at most as long as a reader may be slow.
func (r *Reply) Notify(method string, params ...Chunk) error {
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	return r.notifyLocked(method, params...)
}

// notify is Notify with the lock held.
func (r *Reply) notifyLocked(method string, params ...Chunk) error {
	w := &r.x.out
	switch {
	case w.sse.ended:
		return errAnswered
	case w.err != nil:
		return w.err
	case !w.sse.started && !r.x.acceptsEventStream():
		return nil
	}
	return w.sendMessage(func() { w.writeNotification(method, params...) })
}

// notification appends a JSON-RPC notification.
func (w *responseWriter) writeNotification(method string, params ...Chunk) {
	w.writeString(`{"jsonrpc":"2.0","method":"`)
	w.writeString(method)
	w.writeString(`","params":{`)
	for _, c := range params {
		if c.Escape {
			w.writeEscaped(c.Bytes)
		} else {
			w.writeJSON(c.Bytes)
		}
	}
	w.writeString("}}")
}

// KeepAlive makes an event stream of the answer if the method is silent for so long,
// and keeps it alive from then on; so nobody between client and server takes a call
// that is long under way for a dead connection. It does nothing for a client that
// does not accept event streams, for answers that are streams already, and on nil.
func (r *Reply) KeepAlive(after time.Duration) {
	if r == nil {
		return
	}
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if w.sse.timer == nil && !w.sse.ended && w.sse.period > 0 && r.x.acceptsEventStream() {
		w.sse.timer = time.AfterFunc(after, w.onTimer)
	}
}

// Progress tells how far the request is, if the client has asked for it: else it
// does nothing. total is 0 if it is not known; message may be empty. What does not
// go forward is dropped. What follows too fast is held back: the next that does not
// takes its place, and the last goes out before the result. The error is that of
// [Reply.Notify].
func (r *Reply) Progress(progress, total float64, message string) error {
	token := r.x.req.Meta.ProgressToken
	if token == nil || !finite(progress) || !finite(total) {
		return nil
	}
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	t := r.notificationState()
	if t.hasProgress && progress <= t.progress {
		return nil
	}
	t.hasProgress, t.progress = true, progress
	text := append(append(t.heldProgress[:0], `"progressToken":`...), token...)
	text = strconv.AppendFloat(append(text, `,"progress":`...), progress, 'f', -1, 64)
	if total > 0 {
		text = strconv.AppendFloat(append(text, `,"total":`...), total, 'f', -1, 64)
	}
	if message != "" && r.x.req.Revision >= revision20250326 { // the first with messages
		text = jsonscan.AppendString(append(text, `,"message":`...), message)
	}
	if t.heldProgress = nil; !t.progressBucket.allow(r.x.h.now(), progressBurst, progressRate) {
		t.heldProgress = text
		return nil
	}
	return r.notifyLocked("notifications/progress", Chunk{Bytes: text})
}

// catchUp sends the progress that was held back. An error is the connection's, which
// the answer meets too.
func (r *Reply) flushProgress() {
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if r.notified == nil || r.notified.heldProgress == nil {
		return
	}
	_ = r.notifyLocked("notifications/progress", Chunk{Bytes: r.notified.heldProgress})
	r.notified.heldProgress = nil
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// allowance is how much a request may still say. Its zero value is full.
type tokenBucket struct {
	used  float64
	since time.Time
}

// take tells whether one more is allowed; burst is how many at once, rate how many a
// second.
func (a *tokenBucket) allow(now time.Time, burst, rate float64) bool {
	if passed := now.Sub(a.since).Seconds(); passed > 0 {
		a.used = max(0, a.used-passed*rate)
		a.since = now
	}
	if a.used+1 > burst {
		return false
	}
	a.used++
	return true
}
