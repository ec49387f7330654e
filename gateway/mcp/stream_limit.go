package mcp

import "sync"

// Listeners counts the open streams and the sessions with subscriptions that have none, in all and of each caller, of all hubs that share it: an
// endpoint has a hub, and what its clients may have open is bounded for all endpoints together. The zero value is good. It is safe
// for concurrent use.
type Listeners struct {
	mu                sync.Mutex
	most, each        int // 0: no bound
	streams, sessions tally
}

// tally counts in all and by caller. It has no entries for zero.
type tally struct {
	all int
	of  map[string]int
}

// Bound changes how many streams may be open, and how many of one caller, and as many sessions. 0 stands for no bound. Streams that are
// open stay, also where they are too many.
func (n *Listeners) Bound(streams, perCaller int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.most, n.each = streams, perCaller
}

// perCaller returns how many of one caller there may be.
func (n *Listeners) perCaller() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.each
}

// enterStream counts a stream, or tells of what there is too much. "" is many callers: they count in all alone.
func (n *Listeners) enterStream(caller string) fullness {
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.full(&n.streams, caller)
	if full == notFull {
		n.streams.add(caller)
	}
	return full
}

// leaveStream undoes enterStream.
func (n *Listeners) leaveStream(caller string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams.remove(caller)
}

// enterSession counts a session without a stream, or tells of what there is too much.
func (n *Listeners) enterSession(caller string) fullness {
	n.mu.Lock()
	defer n.mu.Unlock()
	full := n.full(&n.sessions, caller)
	if full == notFull {
		n.sessions.add(caller)
	}
	return full
}

// leaveSession undoes enterSession.
func (n *Listeners) leaveSession(caller string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sessions.remove(caller)
}

// full tells whether one more would be too many. The caller holds the lock.
func (n *Listeners) full(t *tally, caller string) fullness {
	switch {
	case n.most > 0 && t.all >= n.most:
		return fullInAll
	case caller != "" && n.each > 0 && t.of[caller] >= n.each:
		return fullOfCaller
	}
	return notFull
}

func (t *tally) add(caller string) {
	if t.all++; caller == "" {
		return
	}
	if t.of == nil {
		t.of = make(map[string]int)
	}
	t.of[caller]++
}

func (t *tally) remove(caller string) {
	t.all--
	if caller == "" {
		return
	}
	if t.of[caller]--; t.of[caller] <= 0 {
		delete(t.of, caller)
	}
}
