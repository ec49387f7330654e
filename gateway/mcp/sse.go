package mcp

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

// keepAlive is a comment of an event stream: it says nothing, to those who read the
// stream, and that the connection lives, to everyone between (2026-07-28
// streamable-http, Receiving Messages).
const keepAliveComment = ":\n\n"

// live is what makes an event stream of an answer before the answer is there. Its
// zero value is an answer that is still free to become JSON.
type sseState struct {
	mu      sync.Mutex
	started bool        // the answer is an event stream, and its header is out
	ended   bool        // the answer has begun: nothing goes before it any more
	timer   *time.Timer // writes the next keepAlive; nil: none
	period  time.Duration
}

// settle ends what goes before the answer. When it returns no other goroutine
// writes to the stream, nor will.
func (w *responseWriter) endEvents() {
	w.sse.mu.Lock()
	w.sse.ended = true
	if w.sse.timer != nil {
		w.sse.timer.Stop()
	}
	w.sse.mu.Unlock()
}

// stream makes an event stream of the answer, if it is not one already. The caller
// holds live.mu, and knows that the client takes event streams.
func (w *responseWriter) startEventStream() {
	if w.sse.started {
		return
	}
	w.sse.started, w.event, w.status = true, true, http.StatusOK
	w.sendHeader(-1)
	if w.sse.timer == nil && w.sse.period > 0 {
		w.sse.timer = time.AfterFunc(w.sse.period, w.onTimer)
	}
}

// message sends one message before the answer; write appends it to the buffer. The
// caller holds live.mu. The buffer is given back, so that a silent stream holds none.
func (w *responseWriter) sendMessage(write func()) error {
	w.startEventStream()
	w.startMessage()
	write()
	w.writeString(eventEnd)
	w.sendHeld()
	w.finishEvent()
	return w.err
}

// comment sends a keepAlive. The caller holds live.mu.
func (w *responseWriter) sendCommentLocked() error {
	w.startEventStream()
	w.writeConn([]byte(keepAliveComment))
	w.finishEvent()
	return w.err
}

// quiet is comment for who does not hold live.mu.
func (w *responseWriter) sendComment() error {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	return w.sendCommentLocked()
}

// sealed ends a piece of the stream.
func (w *responseWriter) finishEvent() {
	w.release()
	if w.err == nil {
		w.flushAndClearDeadline()
	}
	if w.sse.timer != nil {
		w.sse.timer.Reset(w.sse.period)
	}
}

// errBroken is the error of a stream of which nobody knows how far it was written.
var errBroken = errors.New("panic while the stream was written")

// wake is the timer's.
func (w *responseWriter) onTimer() { w.recoverTimerPanic(func() { w.sendKeepAlive() }) }

// guard calls f for a timer, which has nobody above it.
func (w *responseWriter) recoverTimerPanic(f func()) {
	defer func() {
		if v := recover(); v != nil {
			w.h.o.OnPanic("a stream was kept alive", v)
		}
	}()
	f()
}

// beat writes a keepAlive if the stream was silent for a period, and tells whether the stream lives on. An error is kept, and
// found by whoever writes next; net/http ends the request's context with it. What is over is looked at no more: its error is
// the answer's, which is written without the lock.
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
	err := w.sendCommentLocked()
	panicked = false
	return err == nil
}

// intact tells whether all that was written has gone out.
func (w *responseWriter) healthy() bool {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	return w.err == nil
}

// watch has alive called after each keepAlive, and broken when one finds that nobody reads the stream any more, that it is
// over, or that alive panics.
func (w *responseWriter) onKeepAlive(alive, broken func()) {
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if w.sse.timer == nil {
		return
	}
	w.sse.timer.Stop()
	w.sse.timer = time.AfterFunc(w.sse.period, func() {
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
