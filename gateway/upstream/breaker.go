package upstream

import (
	"sync"
	"time"
)

// Breaker says when an API that fails is left alone for a while (L6). The zero
// value is none: every call is sent.
type Breaker struct {
	// Failures is the share of calls that must fail, in per cent. 0: no breaker.
	Failures int
	// Calls is how many calls must have ended within Window before the share
	// counts.
	Calls int
	// Window is the time that is looked back upon.
	Window time.Duration
	// Pause is how long nothing is sent.
	Pause time.Duration
	// AllErrors counts every answer of 5xx as a failure. Without it those count
	// that tell that nobody was there to answer: see verdictOn.
	AllErrors bool
	// Probes is how many calls are sent after that, and must succeed before all
	// are sent again.
	Probes int
}

// State is where the breaker of an API, or of one of its hosts, stands. The set
// is closed, so it can label a metric.
type State uint8

// The states of a breaker, the best first.
const (
	// Closed: calls are sent.
	Closed State = iota
	// HalfOpen: a few calls are sent, to see whether the service is well again.
	HalfOpen
	// Open: no call is sent.
	Open
)

// String returns the state as a metric label.
func (s State) String() string {
	switch s {
	case HalfOpen:
		return "half_open"
	case Open:
		return "open"
	case Closed:
	}
	return "closed"
}

// States returns all states.
func States() []State { return []State{Closed, HalfOpen, Open} }

// verdict is what a call says of the health of its service.
type verdict uint8

const (
	silent verdict = iota // nothing: its caller went away, or nothing was sent
	well
	failing
)

// windowParts is into how many parts the window is cut: what leaves it leaves it in
// steps of a tenth.
const windowParts = 10

// breaker is a [Breaker] in use, of one host. ADR 0015 tells why it is our own.
//
// It moves from closed to open when the share of failures in the window is
// reached, from open to half open when the pause is over and a call comes, and
// from there to closed when as many probes as there should be have succeeded, or
// back to open when one fails. A probe that has not ended after the length of a
// pause counts as none, and another takes its place, so that one hanging stream
// does not keep the service shut out.
type breaker struct {
	o Breaker
	// changed is told of each change, outside the lock.
	changed func(from, to State)

	mu    sync.Mutex
	state State
	// turn grows with each change of state. What began in an earlier turn says
	// nothing about this one.
	turn uint32

	parts       [windowParts]struct{ all, failed int } // closed: the window
	all, failed int                                    // closed: the sum of parts
	at          int64                                  // closed: the number of the newest part since the epoch

	until    time.Time // open: the end of the pause. half open: when probes that are still out are given up
	out, won int       // half open: probes that were sent, and those that came back well
}

func newBreaker(o Breaker, changed func(from, to State)) *breaker {
	return &breaker{o: o, changed: changed}
}

// ask tells whether a call would be sent now, without sending it; if not, in
// what time it is worth asking again.
func (b *breaker) ask() (wait time.Duration, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Closed {
		return 0, true
	}
	now := time.Now()
	switch b.state {
	case Open:
		if wait := b.until.Sub(now); wait > 0 {
			return wait, false
		}
	case HalfOpen:
		if b.out >= b.o.Probes && now.Before(b.until) {
			return b.until.Sub(now), false
		}
	case Closed:
	}
	return 0, true
}

// allow is ask for a call that is then sent. turn is for tell, which must follow
// when the call has ended.
func (b *breaker) allow() (turn uint32, wait time.Duration, ok bool) {
	b.mu.Lock()
	from := b.state
	turn, wait, ok = b.admit()
	to := b.state
	b.mu.Unlock()
	b.notify(from, to)
	return turn, wait, ok
}

// admit is allow with mu held.
func (b *breaker) admit() (turn uint32, wait time.Duration, ok bool) {
	if b.state == Closed {
		return b.turn, 0, true
	}
	now := time.Now()
	if b.state == Open {
		if wait := b.until.Sub(now); wait > 0 {
			return 0, wait, false
		}
		b.move(HalfOpen)
		b.until = now.Add(b.o.Pause)
	}
	if b.out >= b.o.Probes {
		if wait := b.until.Sub(now); wait > 0 {
			return 0, wait, false
		}
		b.turn++ // the probes that are out are given up
		b.out, b.until = b.won, now.Add(b.o.Pause)
	}
	b.out++
	return b.turn, 0, true
}

// tell takes in what became of a call that was let through in a turn.
func (b *breaker) tell(turn uint32, v verdict) {
	b.mu.Lock()
	from := b.state
	if turn == b.turn {
		b.judge(v)
	}
	to := b.state
	b.mu.Unlock()
	b.notify(from, to)
}

// judge is tell with mu held, for a call of this turn.
func (b *breaker) judge(v verdict) {
	switch b.state {
	case Closed:
		if v == silent {
			return
		}
		now := time.Now()
		b.roll(now)
		part := &b.parts[b.at%windowParts]
		part.all++
		b.all++
		if v == well {
			return
		}
		part.failed++
		b.failed++
		if b.all >= b.o.Calls && b.failed*100 >= b.o.Failures*b.all {
			b.move(Open)
			b.until = now.Add(b.o.Pause)
		}
	case HalfOpen:
		switch v {
		case silent:
			b.out--
		case well:
			if b.won++; b.won >= b.o.Probes {
				b.move(Closed)
			}
		case failing:
			b.move(Open)
			b.until = time.Now().Add(b.o.Pause)
		}
	case Open: // no call is let through in this turn
	}
}

// roll empties the parts of the window that have passed.
func (b *breaker) roll(now time.Time) {
	at := now.UnixNano() / max(int64(b.o.Window/windowParts), 1)
	steps := at - b.at
	if steps < 0 { // the clock was set back
		steps = windowParts
	}
	for n := range min(steps, windowParts) {
		part := &b.parts[(at-n)%windowParts]
		b.all -= part.all
		b.failed -= part.failed
		part.all, part.failed = 0, 0
	}
	b.at = at
}

// move changes the state, and begins a new turn.
func (b *breaker) move(to State) {
	b.state = to
	b.turn++
	b.parts = [windowParts]struct{ all, failed int }{}
	b.all, b.failed, b.out, b.won = 0, 0, 0, 0
}

func (b *breaker) notify(from, to State) {
	if from != to && b.changed != nil {
		b.changed(from, to)
	}
}

// now returns where the breaker stands: as long as no call comes, one whose
// pause is over is half open.
func (b *breaker) now() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Open && !time.Now().Before(b.until) {
		return HalfOpen
	}
	return b.state
}
