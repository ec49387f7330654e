// Package pacing lets long work in the background make way for what somebody waits for.
//
// To read a document of some MiB takes a processor for a second. The runtime takes it away after 10 ms at the earliest, and where no
// processor is idle it looks at the network as rarely: each step of a call, and a call has six, waits as long. So what reads documents
// takes a [Pace.Step] every few microseconds, and rests after each stretch of a fifth of a millisecond.
//
// The rule that must not be broken: no stretch of work between two steps is long, and no copy is large. The runtime can't interrupt
// one: a collection that begins meanwhile waits for its end, and keeps the other processors waiting too.
package pacing

import (
	"context"
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
	// turns is how many documents are read at the same time, so that one that takes long delays none (S4), and all together don't take much
	// memory.
	turns = 2
)

// Pace is the pace of work that several goroutines have a part in. It is safe for concurrent use. Nil makes way for nobody.
type Pace struct {
	*shared
	taken  atomic.Int64 // when the turn was taken that it has, in ns after begin
	worked atomic.Int64 // how long it had turns until now, in ns
}

// shared is what all parts of a pace have in common.
type shared struct {
	serving, waited func() bool
	begin           time.Time
	rest            time.Duration // after a stretch while somebody waits
	since           atomic.Int64  // when the stretch began, in ns after begin
	until           atomic.Int64  // when nobody counts as waiting any more, in ns after begin
	given           atomic.Int64  // when the last turn was given back, in ns after begin; 0: none was
	turns           chan struct{}
}

// New returns the pace of work that makes way once serving tells that there is somebody to make way for, and rests while waited tells that
// somebody waits. Both are asked up to some thousand times a second.
func New(serving, waited func() bool) *Pace {
	others := max(runtime.GOMAXPROCS(0)-1, 1)
	return &Pace{shared: &shared{serving: serving, waited: waited, begin: time.Now(), rest: share * stretch / time.Duration(others), turns: make(chan struct{}, turns)}}
}

// Part returns the pace of somebody who has one turn at a time. Steps, rests and turns are those of p; what [Pace.Worked] tells is its own.
func (p *Pace) Part() *Pace {
	if p == nil {
		return nil
	}
	return &Pace{shared: p.shared}
}

// Worked tells how long a part had turns until now, with the rests in them and without the turn that it may have at the moment.
func (p *Pace) Worked() time.Duration {
	if p == nil {
		return 0
	}
	return time.Duration(p.worked.Load())
}

// Take waits for one of two turns, which [Pace.Give] gives back. The error is that of ctx.
func (p *Pace) Take(ctx context.Context) error {
	if p == nil {
		return ctx.Err()
	}
	select {
	case p.turns <- struct{}{}:
		p.taken.Store(int64(time.Since(p.begin)))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Give gives back a turn.
func (p *Pace) Give() {
	if p != nil {
		now := int64(time.Since(p.begin))
		p.worked.Add(now - p.taken.Load())
		p.given.Store(now)
		<-p.turns
	}
}

// Working tells whether somebody has a turn, or had one within the time.
func (p *Pace) Working(within time.Duration) bool {
	if p == nil {
		return false
	}
	given := p.given.Load()
	return len(p.turns) > 0 || given > 0 && time.Since(p.begin)-time.Duration(given) < within
}

// Workers is how many goroutines may work at the same time in one turn.
func (p *Pace) Workers() int {
	if p == nil || !p.serving() {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}

// Step is called every few microseconds of the work. It returns at once, or after a rest.
func (p *Pace) Step() {
	if p == nil {
		return
	}
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
