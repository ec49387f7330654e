package state

import (
	"sync"
	"time"
)

// useBreaker is the circuit breaker of one use of Redis. A slow command, because of a large value
// or many subscribers, does not mean that others are slow: a timeout pauses its own use only. After
// a pause one operation is allowed as a probe, whose outcome decides for the rest. It is safe for
// concurrent use.
type useBreaker struct {
	mu      sync.Mutex
	pause   time.Duration // 0 if closed
	next    time.Time     // time of the next probe
	logged  time.Time     // time of the last log message
	probing bool          // a probe is in flight
}

// logInterval is the minimum time between log messages about a slow or rejected use.
const logInterval = time.Minute

// allow reports whether an operation may be tried.
func (j *useBreaker) allow(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.pause == 0:
		return true
	case j.probing || now.Before(j.next):
		return false
	}
	j.probing = true
	return true
}

// timedOut records a timeout, and reports whether to log it.
func (j *useBreaker) timedOut(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.pause == 0 || j.probing { // otherwise it began before the pause, and others have reported the same
		j.pause = min(max(2*j.pause, firstProbe), lastProbe)
		j.next = now.Add(j.pause)
	}
	j.probing = false
	return j.shouldLog(now)
}

// rejected records an operation that Redis rejected in time, and reports whether to log it.
func (j *useBreaker) rejected(now time.Time) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pause, j.probing = 0, false
	return j.shouldLog(now)
}

// shouldLog reports whether to log, and records that. The caller holds the lock.
func (j *useBreaker) shouldLog(now time.Time) bool {
	if now.Sub(j.logged) < logInterval {
		return false
	}
	j.logged = now
	return true
}

// succeeded records an operation that succeeded in time.
func (j *useBreaker) succeeded() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pause, j.probing = 0, false
}

// abandoned records an operation that was canceled by its caller, which says nothing about Redis.
func (j *useBreaker) abandoned() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.probing = false
}

// maxLogged is the maximum number of log messages per minute about the availability of Redis.
const maxLogged = 10

// logLimiter limits log messages about the availability of Redis. It is safe for concurrent use.
type logLimiter struct {
	mu    sync.Mutex
	since time.Time
	n     int
}

// allow reports whether to log, and how many messages were suppressed in the preceding minute.
func (t *logLimiter) allow(now time.Time) (log bool, suppressed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.since) >= logInterval {
		suppressed = max(0, t.n-maxLogged)
		t.since, t.n = now, 0
	}
	t.n++
	return t.n <= maxLogged, suppressed
}
