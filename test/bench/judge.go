package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Goal is a bound for the median of a figure. The zero value is no goal. The goals of all scenarios stand in measure
// and in docs/contributing/performance.md.
type Goal struct {
	Bound float64 `json:"bound"`
	Most  bool    `json:"at_most,omitempty"` // the median may not be above the bound; else it may not be below
}

func atLeast(bound float64) Goal { return Goal{Bound: bound} }

func atMost(bound float64) Goal { return Goal{Bound: bound, Most: true} }

// Verdict tells whether a goal is met.
type Verdict struct {
	Goal   Goal `json:"goal"`
	Met    bool `json:"met"`
	Within int  `json:"rounds_within"` // how many rounds are within the bound by themselves
	Rounds int  `json:"rounds"`
}

// judge holds what the rounds gave against the goal; it returns nil where there is none.
//
// The median decides, and nothing else: a goal is missed when the median of the rounds misses it, be it by the least,
// and one slow round does not miss it for the others. For calls the figures are ratios of rounds that ran side by side,
// since those of single rounds differ by up to 40 % on a shared machine. The bound has no allowance for noise, and
// figures are compared as they are, not as they are printed. How far the rounds agree stands beside the verdict:
// "met (5 of 5)" is a result; "met (3 of 5)" and "missed (2 of 5)" say that the goal lies within the spread, and that
// another run may say otherwise. Where nothing was measured, or a round gave no number, the goal is missed.
func (g Goal) judge(rounds []float64) *Verdict {
	if g == (Goal{}) {
		return nil
	}
	v := &Verdict{Goal: g, Met: len(rounds) > 0, Rounds: len(rounds)}
	for _, f := range rounds {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			v.Met = false
		} else if g.holds(f) {
			v.Within++
		}
	}
	v.Met = v.Met && g.holds(median(rounds, func(f float64) float64 { return f }))
	return v
}

func (g Goal) holds(f float64) bool {
	if g.Most {
		return f <= g.Bound
	}
	return f >= g.Bound
}

// goal is the column of that name; - for a figure without a goal.
func (v *Verdict) goal() string {
	if v == nil {
		return "-"
	}
	sign := "≥ "
	if v.Goal.Most {
		sign = "≤ "
	}
	return sign + strconv.FormatFloat(math.Round(v.Goal.Bound*100)/100, 'f', -1, 64)
}

func (v *Verdict) String() string {
	switch {
	case v == nil:
		return "-"
	case v.Rounds == 0:
		return "missed (no data)"
	case v.Met:
		return fmt.Sprintf("met (%d of %d)", v.Within, v.Rounds)
	default:
		return fmt.Sprintf("missed (%d of %d)", v.Within, v.Rounds)
	}
}

// judge gives each figure that has a goal its verdict, and fills r.Missed.
func (r *Report) judge() {
	r.Missed = nil
	note := func(v *Verdict, format string, args ...any) {
		if v != nil && !v.Met {
			r.Missed = append(r.Missed, fmt.Sprintf(format, args...))
		}
	}
	for _, s := range r.Scenarios {
		for i := 1; i < len(s.Targets); i++ {
			t := &s.Targets[i]
			t.Verdict = t.goal.judge(sideBySide(t.Rounds, s.Targets[0].Rounds, rate))
			note(t.Verdict, "%s, %s", s.Title, t.Name)
		}
	}
	for i := range r.Starts {
		s := &r.Starts[i]
		s.TookVerdict = s.took.judge(numbers(s.Took, time.Duration.Seconds))
		note(s.TookVerdict, "start with %s, seconds", s.Document)
		s.RSSVerdict = s.memory.judge(numbers(s.RSS, mib))
		note(s.RSSVerdict, "start with %s, memory", s.Document)
	}
}

// conclude says which goals were missed, and returns the exit code: 1 if there are any, unless the run was short. In
// a short run the verdicts show that judging works; rounds of 300 ms on a busy machine prove nothing about a goal.
func (r *Report) conclude(w io.Writer) int {
	fmt.Fprintln(w)
	if len(r.Missed) == 0 {
		fmt.Fprintln(w, "no goal was missed")
	} else {
		fmt.Fprintf(w, "goals missed: %d\n  %s\n", len(r.Missed), strings.Join(r.Missed, "\n  "))
	}
	if len(r.LeftOut) > 0 {
		fmt.Fprintf(w, "left out and not judged: %s (no folder of big documents, -specs)\n", strings.Join(r.LeftOut, ", "))
	}
	if r.Short {
		fmt.Fprintln(w, "a short run: the figures mean nothing, and the verdicts do not change the exit status")
		return 0
	}
	if len(r.Missed) > 0 {
		return 1
	}
	return 0
}

func numbers[T any](values []T, of func(T) float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = of(v)
	}
	return all
}
