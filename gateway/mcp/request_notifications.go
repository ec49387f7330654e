package mcp

import (
	"context"
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

// heartbeat is the time after a progress notification when the next one is due to a client that has asked for progress. Clients begin
// their time-out anew with each; it is a minute by default, and 10 seconds with some.
const heartbeat = 9 * time.Second

// notificationState is what happens before the response: notifications, and the call. The writer's sse.mu guards it.
type notificationState struct {
	progress       float64 // the last that was sent or held back
	hasProgress    bool
	reported       float64 // the last that the method reported
	total          float64 // that it reported with it; 0 if it is not known
	hasReported    bool
	heldProgress   []byte // params of progress that came too fast, nil if there is none
	progressBucket tokenBucket
	logBucket      tokenBucket
	called         *Called // see [Reply.Called]
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

// KeepAlive keeps a method that takes long from looking dead. After each silence of [ReloadableOptions].KeepAlive a comment is sent, so that
// intermediaries don't close the connection; a client that has asked for progress gets some at least every 10 seconds, so that
// it does not give up. The first makes the response an event stream. It does nothing if the client does not accept event
// streams, or on nil.
func (r *Reply) KeepAlive() {
	if r == nil {
		return
	}
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	progress := r.x.req.Meta.ProgressToken != nil
	k := w.sse.waker // not nil if there were events before
	switch {
	case w.sse.ended || k != nil && k.silent != nil || w.sse.period == 0 && !progress:
		return
	case k == nil:
		if k, _ = w.h.wakers.Get().(*waker); k == nil {
			k = new(waker)
		}
	}
	if k.silent, k.began, k.beat = r, time.Now(), 0; progress {
		k.beat = heartbeat
	}
	k.start(w, k.next(w.sse.period))
}

// Listens reports whether the client has asked for progress, or for log messages of any level.
func (r *Reply) Listens() bool {
	return r.x.req.Meta.ProgressToken != nil || r.LogEnabled(LevelEmergency)
}

// OnDisconnect calls f in its own goroutine when the client has disconnected, unless stop is called before; see [Request.Disconnected].
func (r *Reply) OnDisconnect(f func()) (stop func() bool) {
	return context.AfterFunc(r.x.req.HTTP.Context(), f)
}

// Progress sends a progress notification if the client has asked for progress. total is 0 if it is not known; message
// may be empty. Values that don't increase are dropped; one that increases, but not above the heartbeats sent before it, is sent as the
// next number above them. Values above the rate limit are held back: each replaces the
// one before, and the last is sent before the result. The error is that of [Reply.Notify].
func (r *Reply) Progress(progress, total float64, message string) error {
	if r.x.req.Meta.ProgressToken == nil || !isProgress(progress) || !isProgress(total) {
		return nil
	}
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	t := r.notificationState()
	if t.hasReported && progress <= t.reported {
		return nil
	}
	t.hasReported, t.reported, t.total = true, progress, total
	if t.hasProgress && progress <= t.progress {
		progress, total = t.above()
	}
	text := r.progressParams(progress, total, message)
	if !t.progressBucket.allow(r.x.h.now(), progressBurst, progressRate) {
		t.heldProgress = text
		return nil
	}
	return r.sendProgress(text)
}

// progressParams returns the params of a progress notification, in place of those that were held back. The caller holds sse.mu.
func (r *Reply) progressParams(progress, total float64, message string) []byte {
	t := r.notified
	t.hasProgress, t.progress = true, progress
	text := append(append(t.heldProgress[:0], `"progressToken":`...), r.x.req.Meta.ProgressToken...)
	t.heldProgress = nil
	text = strconv.AppendFloat(append(text, `,"progress":`...), progress, 'f', -1, 64)
	if total > 0 {
		text = strconv.AppendFloat(append(text, `,"total":`...), total, 'f', -1, 64)
	}
	if message != "" && r.x.req.Revision >= revision20250326 { // the first with messages
		text = jsonscan.AppendString(append(text, `,"message":`...), message)
	}
	return text
}

// sendProgress sends progress, after which no heartbeat is due for a while. The caller holds sse.mu.
func (r *Reply) sendProgress(params []byte) error {
	if k := r.x.out.sse.waker; k != nil && k.beat > 0 {
		k.beat = time.Since(k.began) + heartbeat
	}
	return r.notifyLocked("notifications/progress", Chunk{Bytes: params})
}

// sendHeartbeat sends the progress that was held back. If there is none, it reports the seconds that the method has taken, or, once
// the method has reported progress, a little more than that. The caller holds sse.mu.
func (r *Reply) sendHeartbeat() error {
	t := r.notificationState()
	if params := t.heldProgress; params != nil {
		t.heldProgress = nil
		return r.sendProgress(params)
	}
	taken := math.Round(time.Since(r.x.out.sse.waker.began).Seconds())
	progress, total := taken, 0.0
	if t.hasReported || t.hasProgress && taken <= t.progress {
		progress, total = t.above()
	}
	return r.sendProgress(r.progressParams(progress, total, "still working after "+strconv.FormatFloat(taken, 'f', -1, 64)+" s"))
}

// above returns a number just above the last progress, and the total if the number is not above that. There is room for many
// such numbers before the next whole one, and before the total.
func (t *notificationState) above() (progress, total float64) {
	step := 0.001
	if t.total > t.progress {
		step = min(step, (t.total-t.progress)/1000)
	}
	progress = max(t.progress+step, math.Nextafter(t.progress, math.Inf(1)))
	if short := math.Round(progress*1e6) / 1e6; short > t.progress && short < 1e9 { // without the last digits of binary fractions
		progress = short
	}
	if t.total >= progress {
		total = t.total
	}
	return progress, total
}

// flushProgress sends the progress that was held back. An error is the connection's, which the response meets too.
func (r *Reply) flushProgress() {
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if r.notified == nil || r.notified.heldProgress == nil {
		return
	}
	_ = r.sendProgress(r.notified.heldProgress)
	r.notified.heldProgress = nil
}

// isProgress reports whether a number can be sent and there are numbers above it. NaN is none.
func isProgress(f float64) bool { return math.Abs(f) <= 1e300 }

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
