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
const keepAlive = ":\n\n"

// live is what makes an event stream of an answer before the answer is there. Its
// zero value is an answer that is still free to become JSON.
type live struct {
	mu     sync.Mutex
	open   bool        // the answer is an event stream, and its header is out
	over   bool        // the answer has begun: nothing goes before it any more
	timer  *time.Timer // writes the next keepAlive; nil: none
	period time.Duration
}

// settle ends what goes before the answer. When it returns no other goroutine
// writes to the stream, nor will.
func (s *stream) settle() {
	s.live.mu.Lock()
	s.live.over = true
	if s.live.timer != nil {
		s.live.timer.Stop()
	}
	s.live.mu.Unlock()
}

// stream makes an event stream of the answer, if it is not one already. The caller
// holds live.mu, and knows that the client takes event streams.
func (s *stream) stream() {
	if s.live.open {
		return
	}
	s.live.open, s.event, s.status = true, true, http.StatusOK
	s.header(-1)
	if s.live.timer == nil && s.live.period > 0 {
		s.live.timer = time.AfterFunc(s.live.period, s.wake)
	}
}

// message sends one message before the answer; write appends it to the buffer. The
// caller holds live.mu. The buffer is given back, so that a silent stream holds none.
func (s *stream) message(write func()) error {
	s.stream()
	s.start()
	write()
	s.str(eventEnd)
	s.send()
	s.sealed()
	return s.err
}

// comment sends a keepAlive. The caller holds live.mu.
func (s *stream) comment() error {
	s.stream()
	s.write([]byte(keepAlive))
	s.sealed()
	return s.err
}

// quiet is comment for who does not hold live.mu.
func (s *stream) quiet() error {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	return s.comment()
}

// sealed ends a piece of the stream.
func (s *stream) sealed() {
	s.release()
	if s.err == nil {
		s.push()
	}
	if s.live.timer != nil {
		s.live.timer.Reset(s.live.period)
	}
}

// errBroken is the error of a stream of which nobody knows how far it was written.
var errBroken = errors.New("panic while the stream was written")

// wake is the timer's.
func (s *stream) wake() { s.guard(func() { s.beat() }) }

// guard calls f for a timer, which has nobody above it.
func (s *stream) guard(f func()) {
	defer func() {
		if v := recover(); v != nil {
			s.h.o.Panicked("a stream was kept alive", v)
		}
	}()
	f()
}

// beat writes a keepAlive if the stream was silent for a period, and tells whether the stream lives on. An error is kept, and
// found by whoever writes next; net/http ends the request's context with it. What is over is looked at no more: its error is
// the answer's, which is written without the lock.
func (s *stream) beat() (lives bool) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if s.live.over || s.err != nil {
		return false
	}
	panicked := true
	defer func() {
		if panicked && s.err == nil {
			s.err = errBroken
		}
	}()
	err := s.comment()
	panicked = false
	return err == nil
}

// intact tells whether all that was written has gone out.
func (s *stream) intact() bool {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	return s.err == nil
}

// watch has alive called after each keepAlive, and broken when one finds that nobody reads the stream any more, that it is
// over, or that alive panics.
func (s *stream) watch(alive, broken func()) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if s.live.timer == nil {
		return
	}
	s.live.timer.Stop()
	s.live.timer = time.AfterFunc(s.live.period, func() {
		lives := false
		s.guard(func() {
			if s.beat() {
				alive()
				lives = true
			}
		})
		if !lives {
			broken()
		}
	})
}
