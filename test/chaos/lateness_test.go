package main

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestLateness: what holds up most quarters of a second is seen in them, what holds up one in whole windows, which are judged in full.
func TestLateness(t *testing.T) {
	began := time.Now()
	window := func(slow func(quarter int) bool) lateness {
		var calls tally
		for i := range 4000 {
			m := mark{due: began.Add(time.Duration(i) * time.Millisecond / 2), took: 10 * time.Millisecond}
			if slow(i / 500) {
				m.took = 20 * time.Millisecond
			}
			calls.marks, calls.times = append(calls.marks, m), append(calls.times, m.took)
		}
		slices.Sort(calls.times)
		return latenessOf(&calls, began, 2*time.Second)
	}
	none, most, one := func(int) bool { return false }, func(q int) bool { return q < 5 }, func(q int) bool { return q == 5 }
	for _, test := range []struct {
		name string
		slow func(int) bool
		size size
		want string // of windows, and of quarters
	}{
		{"as before", none, full, "ok ok"},
		{"most quarters", most, full, "MISSED MISSED"},
		{"most quarters, scaled", most, scaled, " MISSED"},
		{"one quarter", one, full, "MISSED ok"},
		{"one quarter, scaled", one, scaled, " ok"},
	} {
		c, s := &compared{}, &suite{size: test.size}
		c.add(window(none), window(test.slow))
		if got := fmt.Sprint(c.row(s, "").verdict, " ", c.quartersRow(s, "").verdict); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := latenessOf(&tally{}, began, time.Second); !slices.Equal(got.quarters, []time.Duration{quarter, quarter, quarter, quarter}) {
		t.Errorf("without a call: %v", got.quarters)
	}
}
