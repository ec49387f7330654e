package main

import "context"

// size is how much of a figure is run.
type size int

const (
	short  size = iota // make chaos CHAOS_FLAGS=-short: what needs no quiet machine
	scaled             // make chaos: all figures within a quarter of an hour
	full               // make chaos-full
)

// figure is one of the numbered figures of docs/chaos.md.
type figure struct {
	number int
	name   string
	// conditions say what is run, by size; "": the figure has none of that size.
	conditions [3]string
	run        func(context.Context, *suite) ([]row, error)
}

// row is what was measured of a figure, against one goal.
type row struct {
	what, goal, measured string
	verdict              verdict
}

// verdict tells a goal that is met from one that is not.
type verdict string

const (
	ok          verdict = "ok"
	missed      verdict = "MISSED"
	notMeasured verdict = "not run"
	shown       verdict = "" // for the reader, who has no goal for it
)

// verdictOf is ok if the goal is met.
func verdictOf(met bool) verdict {
	if met {
		return ok
	}
	return missed
}

// notRun is the error of a figure that can't be measured here.
type notRun struct{ reason string }

func (n *notRun) Error() string { return "not run: " + n.reason }

// figures is the table of contents, in the order in which they are numbered.
func figures() []figure {
	return []figure{
		rolling, badDocuments, cuts, gzipBomb, slowClients, cancelled, aborts,
		panics,
	}
}
