package pacing

import (
	"fmt"
	"sync/atomic"
	"time"
)

// A Budget limits the work for a document.
type Budget struct {
	Steps int64         // for a document of any size
	Bytes int64         // of its files that allow one more step; 0 if none do
	Time  time.Duration // maximum wall-clock time; 0 if unlimited
}

// Exceeded is the reason why the work on a document ended. [Pace.Step] and [Pace.Work] panic with it: the work consists
// of walks through trees and schemas, most of which return no error. Load and Compile turn the panic into an error.
type Exceeded struct {
	Steps int64         // allowed steps
	Bytes int64         // size of the document, which allowed them
	Time  time.Duration // allowed time if that was exceeded; otherwise 0
}

// Error names the exceeded limit and the next step.
func (e *Exceeded) Error() string {
	const advice = "split the document, or simplify its schemas: compositions, references and discriminators that lead to each other take the most steps"
	if e.Time > 0 {
		return fmt.Sprintf("reading the document takes more than %v; %s", e.Time, advice)
	}
	return fmt.Sprintf("reading the document takes more than %d steps, the limit for a document of %d bytes; %s", e.Steps, e.Bytes, advice)
}

// Ended is the panic value of a step whose context ended while others had their turn.
type Ended struct{ Err error }

// Error returns that of the context.
func (e *Ended) Error() string { return e.Err.Error() }

// Unwrap returns the error of the context.
func (e *Ended) Unwrap() error { return e.Err }

// Cause returns the error of a recovered panic that ended the work on a document; nil if it is another.
func Cause(recovered any) error {
	switch e := recovered.(type) {
	case *Exceeded:
		return e
	case *Ended:
		return e
	}
	return nil
}

// meter counts the work on one document.
type meter struct {
	budget  Budget
	started time.Time
	bytes   atomic.Int64
	steps   atomic.Int64
}

// Bound returns a pace for the work on one document, which shares turns and rests with p and has a budget of its own. p
// may be nil. Once the budget is exhausted, each further step panics with an [Exceeded].
func (p *Pace) Bound(b Budget) *Pace {
	bound := &Pace{meter: &meter{budget: b, started: time.Now()}}
	if p == nil {
		return bound
	}
	bound.shared = p.shared
	if p.part != nil {
		bound.part = newPart()
		bound.worked = p.worked
	}
	return bound
}

// Allow adds the steps that further bytes of the document allow.
func (p *Pace) Allow(bytes int) {
	if p != nil && p.meter != nil {
		p.bytes.Add(int64(bytes))
	}
}

// batch is the number of steps of work between two calls of Step.
const batch = 64

// Work counts steps of the work, each of which takes about a fifth of a microsecond, and calls [Pace.Step] as often as
// necessary.
func (p *Pace) Work(steps int) {
	switch {
	case p == nil:
	case p.meter == nil:
		if steps >= batch/2 {
			p.Step()
		}
	default:
		n := int64(steps)
		now := p.steps.Add(n)
		if now > p.allowed() {
			panic(&Exceeded{Steps: p.allowed(), Bytes: p.bytes.Load()})
		}
		if now/batch != (now-n)/batch {
			p.Step()
		}
	}
}

func (m *meter) allowed() int64 {
	if m.budget.Bytes <= 0 {
		return m.budget.Steps
	}
	return m.budget.Steps + m.bytes.Load()/m.budget.Bytes
}

// Used returns the used part of the budget, and the total.
func (p *Pace) Used() Used {
	if p == nil || p.meter == nil {
		return Used{}
	}
	return Used{Steps: p.steps.Load(), Bytes: p.bytes.Load(), Allowed: p.allowed()}
}

// Used is the used part of a budget.
type Used struct {
	Steps   int64
	Bytes   int64 // of the document
	Allowed int64 // steps
}

// Resume takes over the used part of an earlier budget, for further work on the same document.
func (p *Pace) Resume(u Used) {
	if p != nil && p.meter != nil {
		p.steps.Store(u.Steps)
		p.bytes.Store(u.Bytes)
	}
}

// checkDeadline ends the work if it has taken too long. The turns of others don't count.
func (p *Pace) checkDeadline() {
	if p.meter == nil || p.budget.Time <= 0 {
		return
	}
	took := time.Since(p.started)
	if p.shared != nil && p.part != nil {
		took = p.had() + time.Since(p.begin) - time.Duration(p.taken.Load())
	}
	if took > p.budget.Time {
		panic(&Exceeded{Time: p.budget.Time})
	}
}
