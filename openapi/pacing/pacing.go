// Package pacing makes long background work yield to requests.
//
// Reading a document of some MiB takes a processor for a second. The runtime preempts it after 10 ms at the earliest,
// and if no processor is idle it polls the network as rarely: each of the six steps of a call would wait that long. So
// code that reads documents calls [Pace.Step] every few microseconds, and rests after each stretch of a fifth of a
// millisecond.
//
// It also limits the work. A document of a few kilobytes can be written so that reading it never ends, so each has a
// budget of steps that grows with its bytes ([Pace.Bound]); steps count work and not time, so that a document is
// refused on every machine or on none. No document delays the others for longer than [slice]: after that, the one that
// has used the least time gets the next turn.
//
// The rule that must not be broken: no stretch of work between two steps is long, and no copy is large. The runtime
// can't interrupt one: a garbage collection that begins meanwhile waits for its end, and blocks the other processors
// too.
package pacing

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// stretch is the duration of uninterrupted work.
	stretch = 200 * time.Microsecond
	// share is the ratio of rest to work while requests wait, on two processors; with more of them it is reduced in
	// proportion.
	share = 9
	// pollRest is the rest after a stretch if nothing seems to wait: it lets the runtime poll the network.
	pollRest = 10 * time.Microsecond
	// busy is how long requests count as waiting after one did: calls come and go within a stretch.
	busy = 20 * time.Millisecond
	// resumeAfter is the time without a step after which a new stretch begins: the goroutine has done other work, or
	// none.
	resumeAfter = 20 * time.Millisecond
)

// Pace is the pace of work that several goroutines share. It is safe for concurrent use. A nil Pace does not yield.
type Pace struct {
	*shared
	*part
	*meter // nil if the work is not limited
}

// shared is the state that all parts of a pace have in common; nil does not yield.
type shared struct {
	serving, waited func() bool
	begin           time.Time
	rest            time.Duration // after a stretch while requests wait
	since           atomic.Int64  // start of the stretch, in ns after begin
	until           atomic.Int64  // when requests no longer count as waiting, in ns after begin
	turns           queue
}

// New returns a pace of work that yields once serving reports true, and rests while waited reports that requests wait.
// Both are called up to some thousand times a second.
func New(serving, waited func() bool) *Pace {
	others := max(runtime.GOMAXPROCS(0)-1, 1)
	return &Pace{shared: &shared{serving: serving, waited: waited, begin: time.Now(), rest: share * stretch / time.Duration(others)}, part: newPart()}
}

// Workers returns the number of goroutines that may work concurrently in one turn.
func (p *Pace) Workers() int {
	if p == nil || p.shared == nil || !p.serving() {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// Step must be called every few microseconds of the work. It returns at once, after a rest, or after the turns of
// others. It panics with an [Exceeded] or an [Ended] if the work must end, see [Pace.Bound].
func (p *Pace) Step() {
	if p == nil {
		return
	}
	p.checkDeadline()
	if p.shared == nil {
		return
	}
	p.share()
	now := time.Since(p.begin)
	worked := now - time.Duration(p.since.Load())
	if worked < stretch {
		return
	}
	if worked < resumeAfter && p.serving() {
		time.Sleep(pollRest)
		if now = time.Since(p.begin); p.waited() { // a waiting request may not have been known before
			p.until.Store(int64(now + busy))
		}
		if now < time.Duration(p.until.Load()) {
			time.Sleep(p.rest)
			now = time.Since(p.begin)
		}
	}
	p.since.Store(int64(now))
}
