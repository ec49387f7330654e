package mcp

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// keepAliveComment is an event stream comment. Readers ignore it; it tells intermediaries that the connection is alive
// (2026-07-28 streamable-http, Receiving Messages).
const keepAliveComment = ":\n\n"

// sseState is the state of events before the response. Its zero value is a response that can still become JSON.
type sseState struct {
	mu      sync.Mutex
	started bool          // the response is an event stream whose header has been sent
	ended   bool          // the response has begun, so no events may precede it
	waker   *waker        // sends the next keep-alive comment or heartbeat; nil if there is none
	period  time.Duration // of keep-alive comments; 0 if there are none
}

// waker is the timer of one response at a time. It is used again, so that a call that is answered before anything is due costs no
// allocation.
type waker struct {
	timer *time.Timer
	w     atomic.Pointer[responseWriter]

	// The mu of the response guards these.

	silent *Reply        // the reply that [Reply.KeepAlive] was called for; nil if it was not
	began  time.Time     // when it was called
	beat   time.Duration // from then to the next heartbeat; 0 if the client has not asked for progress
}

func (k *waker) wake() { k.w.Load().onTimer() }

// next returns the time until the next comment or heartbeat. There is none without a period, unless the client has asked for progress.
func (k *waker) next(period time.Duration) time.Duration {
	if k.beat == 0 {
		return period
	}
	left := max(k.beat-time.Since(k.began), time.Nanosecond)
	if period > 0 {
		left = min(left, period)
	}
	return left
}

// start starts the timer of a response. The caller holds its mu.
func (k *waker) start(w *responseWriter, d time.Duration) {
	k.w.Store(w)
	if k.timer == nil {
		k.timer = time.AfterFunc(d, k.wake)
	} else {
		k.timer.Reset(d)
	}
	w.sse.waker = k
}

// endEvents ends the events before the response. When it returns no other goroutine writes, nor will one later.
func (w *responseWriter) endEvents() {
	w.sse.mu.Lock()
	w.sse.ended = true
	if k := w.sse.waker; k != nil && k.timer.Stop() && !w.sse.started { // else its function may be about to run, for this response
		w.sse.waker = nil
		k.w.Store(nil)
		k.silent = nil
		w.h.wakers.Put(k)
	}
	w.sse.mu.Unlock()
}

// startEventStream makes the response an event stream, if it is not one already. The caller holds sse.mu and knows that
// the client accepts event streams.
func (w *responseWriter) startEventStream() {
	if w.sse.started {
		return
	}
	w.sse.started, w.event, w.status = true, true, http.StatusOK
	w.sendHeader(-1)
	if w.sse.waker == nil && w.sse.period > 0 {
		new(waker).start(w, w.sse.period)
	}
}

// sendMessage sends one message before the response; write appends it to the buffer. The caller holds sse.mu. The
// buffer is released, so that a silent stream holds none.
func (w *responseWriter) sendMessage(write func()) error {
	w.startEventStream()
	w.startMessage()
	write()
	w.writeString(eventEnd)
	w.sendHeld()
	w.finishEvent()
	return w.err
}

// sendCommentLocked sends a keep-alive comment. The caller holds sse.mu.
func (w *responseWriter) sendCommentLocked() error {
	w.startEventStream()
	w.writeConn([]byte(keepAliveComment))
	w.finishEvent()
	return w.err
}

// sendComment is sendCommentLocked for callers that don't hold sse.mu.
func (w *responseWriter) sendComment() error {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	return w.sendCommentLocked()
}

// finishEvent flushes an event and restarts the timer.
func (w *responseWriter) finishEvent() {
	w.release()
	if w.err == nil {
		w.flushAndClearDeadline()
	}
	if k := w.sse.waker; k != nil {
		k.timer.Reset(k.next(w.sse.period))
	}
}

// errBroken is the error of a stream that was interrupted in the middle of a write.
var errBroken = errors.New("panic while the stream was written")

// onTimer is the function of the timer.
func (w *responseWriter) onTimer() { w.recoverTimerPanic(func() { w.sendKeepAlive() }) }

// recoverTimerPanic calls f in a timer, where nothing else would recover a panic.
func (w *responseWriter) recoverTimerPanic(f func()) {
	defer func() {
		if v := recover(); v != nil {
			w.h.o.OnPanic("a stream was kept alive", v)
		}
	}()
	f()
}

// sendKeepAlive sends a heartbeat if one is due, else a keep-alive comment, and reports whether the stream is still open. An error is kept for the next
// write; net/http ends the request's context with it. A stream whose response has begun is not touched, since that is
// written without the lock.
func (w *responseWriter) sendKeepAlive() (lives bool) {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if w.sse.ended || w.err != nil {
		return false
	}
	panicked := true
	defer func() {
		if panicked && w.err == nil {
			w.err = errBroken
		}
	}()
	var err error
	switch k := w.sse.waker; {
	case k.silent != nil && !w.sse.started && !k.silent.x.acceptsEventStream():
		panicked = false
		return false
	case k.beat > 0 && time.Since(k.began) >= k.beat:
		err = k.silent.sendHeartbeat()
	default:
		err = w.sendCommentLocked()
	}
	panicked = false
	return err == nil
}

// healthy reports whether everything written so far has been sent.
func (w *responseWriter) healthy() bool {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	return w.err == nil
}

// onKeepAlive has alive called after each keep-alive comment, and broken when the stream has failed or ended, or alive
// panics.
func (w *responseWriter) onKeepAlive(alive, broken func()) {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if w.sse.waker == nil {
		return
	}
	w.sse.waker.timer.Stop()
	w.sse.waker.timer = time.AfterFunc(w.sse.period, func() {
		lives := false
		w.recoverTimerPanic(func() {
			if w.sendKeepAlive() {
				alive()
				lives = true
			}
		})
		if !lives {
			broken()
		}
	})
}
