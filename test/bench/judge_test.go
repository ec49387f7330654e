package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		goal   Goal
		rounds []float64
		column string
		want   string
		met    bool
	}{
		{"met in each round", atLeast(0.8), []float64{0.82, 0.81, 0.86}, "≥ 0.8", "met (3 of 3)", true},
		{"met exactly", atLeast(1), []float64{1, 1, 1}, "≥ 1", "met (3 of 3)", true},
		{"met, and two rounds are not", atLeast(0.5), []float64{0.4, 0.51, 0.55, 0.49, 0.6}, "≥ 0.5", "met (3 of 5)", true},
		{"missed in each round", atLeast(0.8), []float64{0.7, 0.71, 0.79}, "≥ 0.8", "missed (0 of 3)", false},
		{"missed, and the best rounds are not", atLeast(1), []float64{0.96, 1.02, 0.98}, "≥ 1", "missed (1 of 3)", false},
		{"missed by what is not printed", atLeast(1), []float64{0.9999}, "≥ 1", "missed (0 of 1)", false},
		{"the two in the middle of an even number", atLeast(1), []float64{0.9, 0.98, 1.03, 1.1}, "≥ 1", "met (2 of 4)", true},
		{"one fast round does not lift the others", atLeast(1), []float64{0.9, 0.9, 9}, "≥ 1", "missed (1 of 3)", false},
		{"no data", atLeast(0.5), nil, "≥ 0.5", "missed (no data)", false},
		{"no data, and nothing would be little enough", atMost(0.6), nil, "≤ 0.6", "missed (no data)", false},
		{"no numbers", atLeast(0.5), []float64{math.NaN(), math.Inf(1)}, "≥ 0.5", "missed (0 of 2)", false},
		{"a round without a number", atMost(0.6), []float64{math.NaN(), 0.5, 0.5}, "≤ 0.6", "missed (2 of 3)", false},
		{"at most: met", atMost(0.6), []float64{0.53, 0.59, 0.65}, "≤ 0.6", "met (2 of 3)", true},
		{"at most: missed", atMost(0.4), []float64{0.39, 0.43, 0.44}, "≤ 0.4", "missed (1 of 3)", false},
		{"no goal", Goal{}, []float64{1}, "-", "-", false},
	} {
		v := c.goal.judge(c.rounds)
		if v.String() != c.want || v.goal() != c.column || v != nil && v.Met != c.met {
			t.Errorf("%s: %s, %q, %+v; want %s, %q, met %t", c.name, v.goal(), v, v, c.column, c.want, c.met)
		}
	}
}

// What a run prints last, and its exit status, from results that nobody measured.
func TestConclude(t *testing.T) {
	rates := func(all ...float64) (rounds []Round) {
		for _, r := range all {
			rounds = append(rounds, Round{Rate: r})
		}
		return rounds
	}
	calls := func(rounds ...float64) *Scenario {
		return &Scenario{Title: "1 KiB", Targets: []Target{
			{Name: "reverse proxy", Rounds: rates(100, 50, 200)},
			{Name: "gateway", goal: atLeast(1), Rounds: rates(rounds...)},
			{Name: "upstream itself", Rounds: rates(1, 1, 1)},
		}}
	}
	start := func(seconds, mib float64) Start {
		return Start{
			Document: "github.json", took: atMost(0.6), memory: atMost(80e6 / (1 << 20)),
			Took: []time.Duration{time.Duration(seconds * float64(time.Second))}, RSS: []int64{int64(mib * (1 << 20))},
			CPU: []time.Duration{1}, Peak: []int64{1},
		}
	}
	const short = "a short run: the figures mean nothing, and the verdicts do not change the exit status\n"
	for _, c := range []struct {
		name   string
		report Report
		code   int
		table  []string // what stands in the tables
		end    string
	}{
		{
			"met", Report{Scenarios: []*Scenario{calls(110, 49, 220)}, Starts: []Start{start(0.5, 76)}},
			0, []string{"≥ 1  met (2 of 3)", "≤ 0.6  met (1 of 1)", "≤ 76.29  met (1 of 1)"}, "no goal was missed\n",
		},
		{
			"missed", Report{Scenarios: []*Scenario{calls(90, 51, 180)}, Starts: []Start{start(0.61, 77)}},
			1, []string{"≥ 1  missed (1 of 3)", "≤ 0.6  missed (0 of 1)", "≤ 76.29  missed (0 of 1)"},
			"goals missed: 3\n  1 KiB, gateway\n  start with github.json, seconds\n  start with github.json, memory\n",
		},
		{
			"no data", Report{Scenarios: []*Scenario{calls()}, Starts: []Start{{Document: "stripe.json", took: atMost(0.4)}}},
			1, []string{"≥ 1  missed (no data)", "≤ 0.4  missed (no data)"}, "goals missed: 2\n  1 KiB, gateway\n  start with stripe.json, seconds\n",
		},
		{
			"missed in a short run", Report{Short: true, Scenarios: []*Scenario{calls(90, 45, 180)}},
			0, []string{"≥ 1  missed (0 of 3)"}, "goals missed: 1\n  1 KiB, gateway\n" + short,
		},
		{
			"met in a short run", Report{Short: true, Scenarios: []*Scenario{calls(100, 50, 200)}},
			0, []string{"≥ 1  met (3 of 3)"}, "no goal was missed\n" + short,
		},
		{
			"no documents", Report{LeftOut: []string{"list", "start"}},
			0, nil, "no goal was missed\nleft out and not judged: list, start (no folder of big documents, -specs)\n",
		},
	} {
		c.report.judge()
		var tables, end strings.Builder
		c.report.print(&tables)
		if code := c.report.conclude(&end); code != c.code || end.String() != "\n"+c.end {
			t.Errorf("%s: exit status %d, want %d:\n%s, want:\n%s", c.name, code, c.code, end.String(), c.end)
		}
		if i := slices.IndexFunc(c.table, func(s string) bool { return !strings.Contains(tables.String(), s) }); i >= 0 {
			t.Errorf("%s: no %q in\n%s", c.name, c.table[i], tables.String())
		}
	}
}
