package mcp

import "sync"

// StreamLimit counts and limits the open streams, and the sessions with subscriptions but without a stream, in total
// and per caller. All brokers that share it are limited together: each endpoint has a broker, and the limits apply to
// all endpoints. The zero value is ready to use. It is safe for concurrent use.
type StreamLimit struct {
	mu                sync.Mutex
	max, maxPerCaller int // 0 means no limit
	streams, sessions callerCount
}

// callerCount is a count in total and by caller. It has no entries for zero.
type callerCount struct {
	total    int
	byCaller map[string]int
}

// limitHit is the limit that was reached, if any.
type limitHit uint8

const (
	withinLimit limitHit = iota
	totalLimitHit
	callerLimitHit
)

// SetLimits changes the maximum numbers of open streams, in total and per caller, which apply to sessions without a
// stream as well. 0 means no limit. Streams above the new limits stay open.
func (l *StreamLimit) SetLimits(streams, perCaller int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.max, l.maxPerCaller = streams, perCaller
}

// callerLimit returns the limit per caller, 0 if there is none.
func (l *StreamLimit) callerLimit() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.maxPerCaller
}

// addStream counts a stream unless a limit is reached. The caller "" stands for many callers, which only the total
// limits.
func (l *StreamLimit) addStream(caller string) limitHit {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.check(&l.streams, caller)
	if full == withinLimit {
		l.streams.add(caller)
	}
	return full
}

// removeStream undoes addStream.
func (l *StreamLimit) removeStream(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams.remove(caller)
}

// addSession counts a session without a stream unless a limit is reached.
func (l *StreamLimit) addSession(caller string) limitHit {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.check(&l.sessions, caller)
	if full == withinLimit {
		l.sessions.add(caller)
	}
	return full
}

// removeSession undoes addSession.
func (l *StreamLimit) removeSession(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions.remove(caller)
}

// check returns the limit that one more would exceed. The caller holds the lock.
func (l *StreamLimit) check(t *callerCount, caller string) limitHit {
	switch {
	case l.max > 0 && t.total >= l.max:
		return totalLimitHit
	case caller != "" && l.maxPerCaller > 0 && t.byCaller[caller] >= l.maxPerCaller:
		return callerLimitHit
	}
	return withinLimit
}

func (t *callerCount) add(caller string) {
	if t.total++; caller == "" {
		return
	}
	if t.byCaller == nil {
		t.byCaller = make(map[string]int)
	}
	t.byCaller[caller]++
}

func (t *callerCount) remove(caller string) {
	t.total--
	if caller == "" {
		return
	}
	if t.byCaller[caller]--; t.byCaller[caller] <= 0 {
		delete(t.byCaller, caller)
	}
}
