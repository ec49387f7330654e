package mcp

import (
	"math"
	"strconv"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Rate limits of the notifications of one request: a burst, and a rate per second. Notifications above them are
// dropped, as the revisions advise (2026-07-28 patterns/progress and utilities/logging).
const (
	progressBurst, progressRate = 16, 10
	logBurst, logRate           = 64, 20
)

// notificationState is the state of the notifications before the response. The writer's sse.mu guards it.
type notificationState struct {
	progress       float64 // the last that was sent or held back
	hasProgress    bool
	heldProgress   []byte // params of progress that came too fast, nil if there is none
	progressBucket tokenBucket
	logBucket      tokenBucket
}

// notificationState returns the state, which is created if needed. The caller holds sse.mu.
func (r *Reply) notificationState() *notificationState {
	if r.notified == nil {
		r.notified = &notificationState{}
	}
	return r.notified
}

// acceptsEventStream reports whether the response may be an event stream.
func (x *exchange) acceptsEventStream() bool {
	return x.req.ID != nil && !x.batched && acceptsAny(x.req.HTTP.Header["Accept"], "text/event-stream")
}

// Notify sends a notification before the response; the first one makes the response an event stream. The chunks are
// members of its params without braces, as in [Reply.Result]. If the client does not accept event streams, nothing is
// sent, which is not an error; a notification after the response is. Any other error is the connection's. Notify waits
// until the message is written, at most as long as a write may stall.
func (r *Reply) Notify(method string, params ...Chunk) error {
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	return r.notifyLocked(method, params...)
}

// notifyLocked is Notify for callers that hold sse.mu.
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

// writeNotification appends a JSON-RPC notification.
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

// KeepAlive makes the response an event stream if the method is silent for the given time, and sends keep-alive
// comments from then on, so that intermediaries don't close the connection of a long call. It does nothing if the
// client does not accept event streams, if the response is a stream already, or on nil.
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

// Progress sends a progress notification if the client has asked for progress. total is 0 if it is not known; message
// may be empty. Values that don't increase are dropped. Values above the rate limit are held back: each replaces the
// one before, and the last is sent before the result. The error is that of [Reply.Notify].
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

// flushProgress sends the progress that was held back. An error is the connection's, which the response meets too.
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

// tokenBucket is a rate limit. Its zero value allows a whole burst.
type tokenBucket struct {
	used  float64
	since time.Time
}

// allow reports whether one more event is allowed; rate is per second.
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
