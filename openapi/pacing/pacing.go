// Package pacing lets long work in the background make way for what somebody waits for.
//
// To read a document of some MiB takes a processor for a second. The runtime takes it away after 10 ms at the earliest, and where no
// processor is idle it looks at the network as rarely: each step of a call, and a call has six, waits as long. So what reads documents
// takes a [Pace.Step] every few microseconds, and rests after each stretch of a fifth of a millisecond.
//
// It bounds the work, too. A document of a few kilobytes can be written so that reading it never ends, so each has a budget of steps that grows
// with its bytes ([Pace.Bound]); steps count work and not time, so that a document is refused on each machine or on none. And no document keeps
// the others waiting for longer than [slice]: after that the one that has used the least time has the next turn.
//
// The rule that must not be broken: no stretch of work between two steps is long, and no copy is large. The runtime can't interrupt
// one: a collection that begins meanwhile waits for its end, and keeps the other processors waiting too.
package pacing

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	// stretch is how long is worked at a time.
	stretch = 200 * time.Microsecond
	// share is how many stretches the others have for one of ours while somebody waits, on two processors; with more of them it is
	// less by as many.
	share = 9
	// glance is the rest after a stretch when nobody seems to wait: the runtime looks at the network in it.
	glance = 10 * time.Microsecond
	// busy is how long somebody counts as waiting after one did: calls come and go within a stretch.
	busy = 20 * time.Millisecond
	// forgotten is after how long without a step a new stretch begins: there was other work, or none.
	forgotten = 20 * time.Millisecond
)

// Pace is the pace of work that several goroutines have a part in. It is safe for concurrent use. Nil makes way for nobody.
type Pace struct {
	*shared
	*part
	*meter // nil: the work is not bounded
}

// shared is what all parts of a pace have in common; nil makes way for nobody.
type shared struct {
	serving, waited func() bool
	begin           time.Time
	rest            time.Duration // after a stretch while somebody waits
	since           atomic.Int64  // when the stretch began, in ns after begin
	until           atomic.Int64  // when nobody counts as waiting any more, in ns after begin
	turns           queue
}

// New returns the pace of work that makes way once serving tells that there is somebody to make way for, and rests while waited tells that
// somebody waits. Both are asked up to some thousand times a second.
func New(serving, waited func() bool) *Pace {
	others := max(runtime.GOMAXPROCS(0)-1, 1)
	return &Pace{shared: &shared{serving: serving, waited: waited, begin: time.Now(), rest: share * stretch / time.Duration(others)}, part: newPart()}
}

// Workers is how many goroutines may work at the same time in one turn.
func (p *Pace) Workers() int {
	if p == nil || p.shared == nil || !p.serving() {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// Step is called every few microseconds of the work. It returns at once, after a rest, or once the others whose turn it is had theirs. It
// panics with an [Exceeded] or an [Ended] when the work must end, see [Pace.Bound].
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
	if worked < forgotten && p.serving() {
		time.Sleep(glance)
		if now = time.Since(p.begin); p.waited() { // who waits was perhaps not known before
			p.until.Store(int64(now + busy))
		}
		if now < time.Duration(p.until.Load()) {
			time.Sleep(p.rest)
			now = time.Since(p.begin)
		}
	}
	p.since.Store(int64(now))
}
