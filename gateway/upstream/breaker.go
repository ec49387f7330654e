package upstream

import (
	"sync"
	"time"
)

// Breaker configures the circuit breaker of an API (L6). The zero value disables it.
type Breaker struct {
	// Failures is the failure rate that opens the breaker, in per cent. 0 disables the breaker.
	Failures int
	// Calls is the minimum number of calls within Window for the rate to count.
	Calls int
	// Window is the time over which the rate is computed.
	Window time.Duration
	// Pause is the time for which the breaker stays open.
	Pause time.Duration
	// AllErrors counts every 5xx response as a failure, not only those that indicate an unreachable
	// service: see outcomeOfResponse.
	AllErrors bool
	// Probes is the number of calls sent in the half-open state, all of which must succeed to close
	// the breaker.
	Probes int
}

// State is the state of the breaker of an API, or of one of its hosts. The set is closed, so it can
// label a metric.
type State uint8

// States of a breaker, from best to worst.
const (
	// Closed means that calls are sent.
	Closed State = iota
	// HalfOpen means that a few calls are sent as probes.
	HalfOpen
	// Open means that no call is sent.
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

// healthOutcome is the result of a call with respect to the service's health.
type healthOutcome uint8

const (
	unknown healthOutcome = iota // nothing is known: the caller canceled, or nothing was sent
	success
	failure
)

// windowBuckets is the number of buckets of the window, so that it slides in steps of a tenth.
const windowBuckets = 10

// breaker implements [Breaker] for one host. ADR 0015 explains why no library is used.
//
// It opens when the failure rate in the window is reached, becomes half open with the first call
// after the pause, and closes when all probes have succeeded, or opens again when one fails. A
// probe that has not ended after the length of a pause is replaced by another, so that one hanging
// stream does not keep the breaker open.
type breaker struct {
	o Breaker
	// onChange is called for each change, outside the lock.
	onChange func(from, to State)

	mu    sync.Mutex
	state State
	// generation is incremented with each change of state. Outcomes of calls from an earlier
	// generation are ignored.
	generation uint32

	buckets     [windowBuckets]struct{ all, failed int } // closed: the window
	all, failed int                                      // closed: the sum of buckets
	newest      int64                                    // closed: the number of the newest bucket since the epoch

	until                time.Time // open: the end of the pause; half open: the time at which outstanding probes are replaced
	probesSent, probesOK int       // half open: probes that were sent, and those that succeeded
}

func newBreaker(o Breaker, changed func(from, to State)) *breaker {
	return &breaker{o: o, onChange: changed}
}

// check reports whether a call would be allowed now, without counting it; if not, it returns the
// time to wait.
func (b *breaker) check() (wait time.Duration, ok bool) {
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
		if b.probesSent >= b.o.Probes && now.Before(b.until) {
			return b.until.Sub(now), false
		}
	case Closed:
	}
	return 0, true
}

// allow admits a call. Its generation is for report, which must be called when the call has ended.
func (b *breaker) allow() (generation uint32, wait time.Duration, ok bool) {
	b.mu.Lock()
	from := b.state
	generation, wait, ok = b.admit()
	to := b.state
	b.mu.Unlock()
	b.notify(from, to)
	return generation, wait, ok
}

// admit is allow with mu held.
func (b *breaker) admit() (generation uint32, wait time.Duration, ok bool) {
	if b.state == Closed {
		return b.generation, 0, true
	}
	now := time.Now()
	if b.state == Open {
		if wait := b.until.Sub(now); wait > 0 {
			return 0, wait, false
		}
		b.setState(HalfOpen)
		b.until = now.Add(b.o.Pause)
	}
	if b.probesSent >= b.o.Probes {
		if wait := b.until.Sub(now); wait > 0 {
			return 0, wait, false
		}
		b.generation++ // outstanding probes are given up
		b.probesSent, b.until = b.probesOK, now.Add(b.o.Pause)
	}
	b.probesSent++
	return b.generation, 0, true
}

// report records the outcome of a call that was allowed in a generation.
func (b *breaker) report(generation uint32, v healthOutcome) {
	b.mu.Lock()
	from := b.state
	if generation == b.generation {
		b.record(v)
	}
	to := b.state
	b.mu.Unlock()
	b.notify(from, to)
}

// record is report with mu held, for a call of the current generation.
func (b *breaker) record(v healthOutcome) {
	switch b.state {
	case Closed:
		if v == unknown {
			return
		}
		now := time.Now()
		b.advance(now)
		part := &b.buckets[b.newest%windowBuckets]
		part.all++
		b.all++
		if v == success {
			return
		}
		part.failed++
		b.failed++
		if b.all >= b.o.Calls && b.failed*100 >= b.o.Failures*b.all {
			b.setState(Open)
			b.until = now.Add(b.o.Pause)
		}
	case HalfOpen:
		switch v {
		case unknown:
			b.probesSent--
		case success:
			if b.probesOK++; b.probesOK >= b.o.Probes {
				b.setState(Closed)
			}
		case failure:
			b.setState(Open)
			b.until = time.Now().Add(b.o.Pause)
		}
	case Open: // no call is allowed in this state
	}
}

// advance clears the buckets that have left the window.
func (b *breaker) advance(now time.Time) {
	at := now.UnixNano() / max(int64(b.o.Window/windowBuckets), 1)
	steps := at - b.newest
	if steps < 0 { // the clock was set back
		steps = windowBuckets
	}
	for n := range min(steps, windowBuckets) {
		part := &b.buckets[(at-n)%windowBuckets]
		b.all -= part.all
		b.failed -= part.failed
		part.all, part.failed = 0, 0
	}
	b.newest = at
}

// setState changes the state, and starts a new generation.
func (b *breaker) setState(to State) {
	b.state = to
	b.generation++
	b.buckets = [windowBuckets]struct{ all, failed int }{}
	b.all, b.failed, b.probesSent, b.probesOK = 0, 0, 0, 0
}

func (b *breaker) notify(from, to State) {
	if from != to && b.onChange != nil {
		b.onChange(from, to)
	}
}

// currentState returns the state of the breaker: half open if the pause is over, even before the
// next call.
func (b *breaker) currentState() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == Open && !time.Now().Before(b.until) {
		return HalfOpen
	}
	return b.state
}
