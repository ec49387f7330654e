package main

import (
	"context"
)

// size is how much of a figure is run.
type size int

const (
	short  size = iota // make chaos CHAOS_FLAGS=-short: what needs no quiet machine
	scaled             // make chaos: all figures within a quarter of an hour
	full               // make chaos-full
)

// figure is one of the numbered figures of docs/contributing/chaos.md.
type figure struct {
	number int
	name   string
	// conditions say what is run, by size; "": the figure has none of that size.
	conditions [3]string
	// counts tells that nothing of it is a time, so that another such figure may run beside it: 0, there is a time; else its turn
	// among those that only count.
	counts int
	run    func(context.Context, *suite) ([]row, error)
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

// allFigures is the table of contents, in the order in which they are numbered.
func allFigures() []figure {
	all := []figure{
		printedBy(1, "payloads that lead out of a path", "make paths: nginx, Apache, Tomcat, Node, Go and Python behind the gateway", "0 lead to another route", `\d+ payloads, \d+ stacks, \d+ calls`, "paths"),
		rolling,
		reloads,
		tokens(4, "rotation of keys", "rotation"),
		tokens(5, "tokens that name unknown keys", "keys"),
		tokens(6, "an authorization server that hangs", "outage"),
		badDocuments,
		hostile,
		cuts,
		gzipBomb,
		bulkhead,
		overload,
		slowClients,
		openStreams,
		cancelled,
		aborts,
		proven(17, "secrets in what can be seen", "each secret looked for in answers, logs, traces, metrics and pages, at debug, with faults", "Canar", "./gateway", "./auth/..."),
		apart,
		proven(19, "who may do what", "5 revisions × single and batch × methods × tokens, against the table", "^TestAuthorizationMatrix$", "./gateway"),
		proven(20, "addresses that must not be called", "spellings of addresses, names that change, redirects", "^(TestAddressTable|TestAddresses|TestGuardedDial)$", "./gateway/upstream"),
		fuzzing,
		mutation,
		leaks,
		conformance,
		tokenCost,
		added,
		redisGone,
		printedBy(28, "advisories", "make cve: a test for each that applies", "all pass", `(?m)^.*\d+ (tests|advisories).*$`, "cve"),
		images,
		panics,
	}
	// Those that take long come first, so that all end at about the same time. Not 22, whose tests have a time limit of
	// their own, by what they took at first.
	for turn, number := range []int{30, 29, 1, 28, 21, 18, 17, 24, 16, 19, 20, 23} {
		all[number-1].counts = turn + 1
	}
	return all
}
