package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCancelledLoadGoesOn: the moment at which no more calls come is not the one at which the last has its answer.
func TestCancelledLoadGoesOn(t *testing.T) {
	for name, begin := range map[string]func(ctx context.Context, call func(worker, n int) error) *load{
		"open":   func(ctx context.Context, call func(worker, n int) error) *load { return openLoad(ctx, 10, 1, call) },
		"closed": func(ctx context.Context, call func(worker, n int) error) *load { return closedLoad(ctx, 1, 0, call) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				l := begin(t.Context(), func(int, int) error { time.Sleep(time.Second); return nil })
				time.Sleep(50 * time.Millisecond)
				l.cancel()
				if took := time.Since(start); took != 50*time.Millisecond {
					t.Errorf("it is cancelled after %v", took)
				}
				if c := l.wait(); c.made != 1 || time.Since(start) != time.Second {
					t.Errorf("%d calls in %v, want 1 in 1 s", c.made, time.Since(start))
				}
			})
		})
	}
}

// TestPace: what is measured beside calls that were not made says little.
func TestPace(t *testing.T) {
	for _, test := range []struct {
		size  size
		loads []*tally
		want  row
	}{
		{scaled, []*tally{{due: 1000, made: 950}}, row{"x", ">= 95 %", "95 % (950 of 1000)", ok}},
		{scaled, []*tally{{due: 1000, made: 1000}, {due: 1000, made: 949}}, row{"x", ">= 95 %", "95 % (949 of 1000)", missed}},
		{short, []*tally{{due: 1000, made: 10}}, row{"x", ">= 95 %", "1 % (10 of 1000)", shown}},
		{full, []*tally{{}}, row{"x", ">= 95 %", "0 % (0 of 0)", missed}},
	} {
		if got := pace(&suite{size: test.size}, "x", test.loads...); got != test.want {
			t.Errorf("%+v, want %+v", got, test.want)
		}
	}
}

// TestLoadsThatWereNotMade: each figure of an open load is missed when most of its calls were never made, however well the others went.
func TestLoadsThatWereNotMade(t *testing.T) {
	began := time.Now()
	ended := began.Add(15 * time.Second)
	// load has so many calls that went well and were told to come again, of those that were due.
	load := func(due, well, told int) *tally {
		l := &tally{due: due, made: well + told, failed: told, words: map[string]int{errInvited.Error(): told}}
		for n := range well {
			l.times = append(l.times, 200*time.Millisecond)
			l.marks = append(l.marks, mark{began.Add(time.Duration(n) * 4 * time.Millisecond), 200 * time.Millisecond, false})
		}
		return l
	}
	after := load(200, 200, 0)
	for i := range after.marks {
		after.marks[i].due = ended.Add(time.Duration(i) * 20 * time.Millisecond)
	}
	crowded := func(size size, during *tally) []row {
		return (&overloaded{slots: 40, capacity: 200, alone: load(0, 10, 0), during: during, after: after, began: began, ended: ended, most: 40}).rows(&suite{size: size})
	}
	hole := func(beside *tally) *turns {
		return &turns{without: sides{*load(900, 900, 0), *load(900, 900, 0), nil}, with: sides{*beside, *load(900, 0, 900), []int64{1}}}
	}
	for _, test := range []struct {
		name string
		rows []row
		want string // the rows that are missed
	}{
		{"overload", crowded(scaled, load(15_000, 2990, 12_000)), ""},
		{"overload, none refused", crowded(scaled, load(3000, 2990, 0)), "refused in words"},
		{"overload that did not come", crowded(scaled, load(15_000, 4500, 0)), "calls made of those that were due, refused in words"},
		{"rolling", rolled(&suite{size: scaled}, "nginx", load(1000, 1000, 0), 2, began, began.Add(time.Second), ended), ""},
		{"rolling, few made", rolled(&suite{size: scaled}, "nginx", load(1000, 900, 0), 2, began, began.Add(time.Second), ended), "nginx, calls made of those that were due"},
		{"rolling in full, too short", rolled(&suite{size: full}, "nginx", load(1000, 1000, 0), 2, began, began.Add(time.Second), ended), "nginx, calls made of those that were due"},
		{"rolling in full", rolled(&suite{size: full}, "nginx", load(300_000, 300_000, 0), 2, began, began.Add(time.Second), ended), ""},
		{"black hole", hole(load(900, 900, 0)).rows(&suite{size: scaled}, ""), ""},
		{"black hole, few made beside it", hole(load(900, 600, 0)).rows(&suite{size: scaled}, ""), "calls made of those that were due"},
	} {
		var misses []string
		for _, r := range test.rows {
			if r.verdict == missed {
				misses = append(misses, r.what)
			}
		}
		if got := strings.Join(misses, ", "); got != test.want {
			t.Errorf("%s: missed are %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCapacity: calls that were still under way at the end count with the time that they took.
func TestCapacity(t *testing.T) {
	if got := (&tally{times: []time.Duration{100 * time.Millisecond, 300 * time.Millisecond}}).capacity(40); got != 200 {
		t.Errorf("%v calls a second, want 200", got)
	}
	if got := (&tally{}).capacity(40); got != 0 {
		t.Errorf("%v calls a second of none", got)
	}
}
