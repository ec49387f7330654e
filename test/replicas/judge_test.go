package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"drawbridge/test/wire"
)

// TestJudge: calls that come to nothing miss their goal, in whatever way they do.
func TestJudge(t *testing.T) {
	good := wire.Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"done\":true}"}],"isError":false}}`)}
	failed := wire.Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the service can't be reached"}],"isError":true}}`)}
	half := wire.Answer{Status: 200, Body: []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"done\":true}"}],"isError":true}}`)}
	refusal := wire.Answer{Status: 429, Body: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"too many calls"}}`)}
	// As many come through as are allowed.
	third := func(n int) wire.Answer {
		if n%tries == 0 {
			return good
		}
		return refusal
	}
	always := func(a wire.Answer) func(int) wire.Answer { return func(int) wire.Answer { return a } }
	const failures, offered, limit, slowest, p99 = "failed calls", "calls made", "calls of a limited API: killed", "slowest call in the first second of: killed", "99 of 100 calls: killed"
	for name, c := range map[string]struct {
		plain, limited func(int) wire.Answer // in the phase "killed"; nil: no call is made
		missed         []string
	}{
		"all is well":                    {always(good), third, nil},
		"results that are errors":        {always(failed), third, []string{failures}},
		"an error with what was said":    {always(half), third, []string{failures}},
		"a limited call that is one":     {always(good), always(failed), []string{failures, limit}},
		"refused though there is room":   {always(refusal), third, []string{failures}},
		"something else with status 200": {always(wire.Answer{Status: 200, Body: []byte(`{}`)}), third, []string{failures}},
		"no status 200":                  {always(wire.Answer{Status: 503, Body: good.Body}), third, []string{failures}},
		"no limited call is let in":      {always(good), always(refusal), []string{limit}},
		"every limited call is":          {always(good), always(good), []string{limit}},
		"no call is made":                {nil, third, []string{offered, slowest, p99}},
		"no limited call is made":        {always(good), nil, []string{offered, limit}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &cluster{options: options{rps: 100, limit: 10}}
			l := &load{}
			var parts []part
			at := time.Unix(0, 0)
			for i, p := range phases[:2] {
				part := part{phase: p, began: at, ended: at.Add(5 * time.Second)}
				parts, at = append(parts, part), part.ended
				plain, limited := always(good), third
				if i == 1 {
					plain, limited = c.plain, c.limited
				}
				l.plain = append(l.plain, part.calls(cluster.rps, false, plain)...)
				l.limited = append(l.limited, part.calls(tries*cluster.limit, true, limited)...)
			}
			var missed []string
			for _, f := range cluster.judge(l, parts) {
				if !f.Met {
					missed = append(missed, f.Name)
				}
			}
			for i := range max(len(missed), len(c.missed)) {
				if i >= len(missed) || i >= len(c.missed) || !strings.HasPrefix(missed[i], c.missed[i]) {
					t.Fatalf("missed are %q, want %q", missed, c.missed)
				}
			}
		})
	}
}

// TestJudgeWaits: calls that wait for Redis miss a goal, whatever one call took long before, and a machine that pauses misses none.
func TestJudgeWaits(t *testing.T) {
	const first, spread = "slowest call in the first second of: killed", "tenths of a second with a call that is 20 ms late: killed"
	long := func(from, to, every time.Duration, took time.Duration) func([]made, time.Time) {
		return func(all []made, began time.Time) {
			next := from
			for i := range all {
				if since := all[i].at.Sub(began); since >= next && since < to {
					all[i].took, next = took, next+every
				}
			}
		}
	}
	none := func([]made, time.Time) {}
	const at, end = 500 * time.Millisecond, 20 * time.Second
	for name, c := range map[string]struct {
		before, after func([]made, time.Time)
		missed        string
	}{
		"none":                          {none, none, ""},
		"one, and one long before":      {long(at, end, end, 300*time.Millisecond), long(at, end, end, 310*time.Millisecond), first},
		"one, and one just before":      {long(end-at, end, end, 300*time.Millisecond), long(at, end, end, 310*time.Millisecond), ""},
		"one a second":                  {none, long(1500*time.Millisecond, end, time.Second, 300*time.Millisecond), spread},
		"one a second, as it was":       {long(at, end, time.Second, 300*time.Millisecond), long(1500*time.Millisecond, end, time.Second, 300*time.Millisecond), ""},
		"one in five seconds":           {none, long(6*time.Second, end, 5*time.Second, 300*time.Millisecond), spread},
		"a pause of 150 ms":             {none, long(5*time.Second, 5150*time.Millisecond, 0, 100*time.Millisecond), ""},
		"no longer than what is let be": {none, long(at, end, time.Second, 21*time.Millisecond), ""},
	} {
		t.Run(name, func(t *testing.T) {
			good := wire.Answer{Status: 200, Body: []byte(`{"result":{"content":[{"type":"text","text":"{\"done\":true}"}]}}`)}
			cluster := &cluster{options: options{rps: 200, limit: 10}}
			l := &load{}
			var parts []part
			at := time.Unix(0, 0)
			for i, p := range phases[:2] {
				part := part{phase: p, began: at, ended: at.Add(end)}
				parts, at = append(parts, part), part.ended
				calls := part.calls(cluster.rps, false, func(int) wire.Answer { return good })
				[]func([]made, time.Time){c.before, c.after}[i](calls, part.began)
				l.plain = append(l.plain, calls...)
			}
			var missed []string
			for _, f := range cluster.judge(l, parts) {
				if !f.Met && !strings.HasPrefix(f.Name, "calls ") { // of the limited API none are made
					missed = append(missed, f.Name)
				}
			}
			if got := strings.Join(missed, ", "); got != c.missed {
				t.Errorf("missed are %q, want %q", got, c.missed)
			}
		})
	}
}

// calls are those of the phase at a rate; nil: none.
func (p part) calls(rate int, limited bool, answers func(n int) wire.Answer) (all []made) {
	if answers == nil {
		return nil
	}
	pause := time.Second / time.Duration(rate)
	for n, at := 0, p.began; at.Before(p.ended); n, at = n+1, at.Add(pause) {
		a := answers(n)
		all = append(all, made{at: at, took: time.Millisecond, limited: limited, outcome: outcomeOf(a, nil)})
	}
	return all
}

// TestOutcomeOfAnError: a connection that breaks is told in its words.
func TestOutcomeOfAnError(t *testing.T) {
	if got := outcomeOf(wire.Answer{Status: 200, Body: []byte(`{\"done\":true}`)}, fmt.Errorf("read body: reset")); got != "read body: reset" {
		t.Errorf("it is %q", got)
	}
}
