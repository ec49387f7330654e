package mcp

import "sync"

// Listeners counts the open streams and the sessions with subscriptions that have none, in all and of each caller, of all hubs that share it: an
// endpoint has a hub, and what its clients may have open is bounded for all endpoints together. The zero value is good. It is safe
// for concurrent use.
type StreamLimit struct {
	mu                sync.Mutex
	max, maxPerCaller int // 0: no bound
	streams, sessions callerCount
}

// tally counts in all and by caller. It has no entries for zero.
type callerCount struct {
	total    int
	byCaller map[string]int
}

// Bound changes how many streams may be open, and how many of one caller, and as many sessions. 0 stands for no bound. Streams that are
// open stay, also where they are too many.
func (n *StreamLimit) SetLimits(streams, perCaller int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.max, n.maxPerCaller = streams, perCaller
}

// perCaller returns how many of one caller there may be.
func (n *StreamLimit) callerLimit() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.maxPerCaller
}

// enterStream counts a stream, or tells of what there is too much. "" is many callers: they count in all alone.
func (n *StreamLimit) addStream(caller string) limitHit {
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.check(&n.streams, caller)
	if full == withinLimit {
		n.streams.add(caller)
	}
	return full
}

// leaveStream undoes enterStream.
func (n *StreamLimit) removeStream(caller string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams.remove(caller)
}

// enterSession counts a session without a stream, or tells of what there is too much.
func (n *StreamLimit) addSession(caller string) limitHit {
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.check(&n.sessions, caller)
	if full == withinLimit {
		n.sessions.add(caller)
	}
	return full
}

// leaveSession undoes enterSession.
func (n *StreamLimit) removeSession(caller string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions.remove(caller)
}

// full tells whether one more would be too many. The caller holds the lock.
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
