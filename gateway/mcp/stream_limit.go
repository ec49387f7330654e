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
func (n *StreamLimit) SetLimits(streams, perCaller int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.max, n.maxPerCaller = streams, perCaller
}

// callerLimit returns the limit per caller, 0 if there is none.
func (n *StreamLimit) callerLimit() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.maxPerCaller
}

// addStream counts a stream unless a limit is reached. The caller "" stands for many callers, which only the total
// limits.
func (n *StreamLimit) addStream(caller string) limitHit {
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.check(&n.streams, caller)
	if full == withinLimit {
		n.streams.add(caller)
	}
	return full
}

// removeStream undoes addStream.
func (n *StreamLimit) removeStream(caller string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams.remove(caller)
}

// addSession counts a session without a stream unless a limit is reached.
func (n *StreamLimit) addSession(caller string) limitHit {
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.check(&n.sessions, caller)
	if full == withinLimit {
		n.sessions.add(caller)
	}
	return full
}

// removeSession undoes addSession.
func (n *StreamLimit) removeSession(caller string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions.remove(caller)
}

// check returns the limit that one more would exceed. The caller holds the lock.
func (n *StreamLimit) check(t *callerCount, caller string) limitHit {
	switch {
	case n.max > 0 && t.total >= n.max:
		return totalLimitHit
	case caller != "" && n.maxPerCaller > 0 && t.byCaller[caller] >= n.maxPerCaller:
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
