package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestFaultsAreJudged: no wrong answer is forgiven, and calls that met no fault say nothing.
func TestFaultsAreJudged(t *testing.T) {
	body := strings.Repeat("0123456789", 20)
	for _, test := range []struct {
		want fate
		text string
		err  error
		took time.Duration
		met  int
		v    verdict
	}{
		{exact, body, nil, 0, 1, ok},
		{failed, body, nil, 0, 1, missed},
		{either, body, nil, 0, 1, ok},
		{exact, "broke off", errTool, 0, 1, missed},
		{failed, "broke off", errTool, 0, 1, ok},
		{either, "broke off", errTool, 0, 1, ok},
		{either, body[1:], nil, 0, 1, missed},
		{failed, body[:130], errTool, 0, 1, missed},
		{failed, "", errors.New("status 500"), 0, 1, missed},
		{failed, "broke off", errTool, 2 * time.Second, 1, missed},
		{exact, body, nil, 0, 0, missed},
	} {
		var o outcomes
		o.note(body, test.text, test.err, test.took)
		if got := o.row(&suite{size: scaled}, fault{want: test.want}, 1, test.met); got.verdict != test.v {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

// TestBesideBombs: a window into which no bomb came is missed, a failed call too, and calls that take more than twice as long.
func TestBesideBombs(t *testing.T) {
	calls := func(took time.Duration) *tally { return &tally{made: 1, due: 1, times: []time.Duration{took}} }
	calm := window{calls(time.Millisecond), calls(time.Millisecond)}
	for _, test := range []struct {
		read  int
		bombs *tally
		want  string
	}{
		{3, calls(2 * time.Millisecond), "ok  ok ok ok "},
		{0, calls(time.Millisecond), "MISSED  ok ok ok "},
		{3, &tally{made: 2, due: 2, failed: 1, times: []time.Duration{time.Millisecond}}, "ok  MISSED ok ok "},
		{3, &tally{made: 1, due: 2, times: []time.Duration{time.Millisecond}}, "ok  ok MISSED ok "},
		{3, calls(2100 * time.Microsecond), "ok  ok ok MISSED "},
	} {
		var b besides
		b.add(test.read, calm, window{test.bombs, calls(time.Millisecond)}, calm)
		got := ""
		for _, r := range b.rows(&suite{size: scaled}, 49, 100)[:5] {
			got += string(r.verdict) + " "
		}
		if got != test.want {
			t.Errorf("%+v: %s, want %s", test, got, test.want)
		}
	}
}

// TestPolledBombs: the p99 is judged in full, where nothing may be felt.
func TestPolledBombs(t *testing.T) {
	calls := func(took time.Duration) *tally { return &tally{made: 1, due: 1, times: []time.Duration{took}} }
	for _, test := range []struct {
		size  size
		read  int
		bombs *tally
		want  string
	}{
		{full, 9, calls(1050 * time.Microsecond), "ok ok ok ok ok "},
		{full, 0, calls(time.Millisecond), "MISSED MISSED ok ok ok "},
		{full, 7, calls(time.Millisecond), "ok MISSED ok ok ok "},
		{full, 8, &tally{made: 2, due: 2, failed: 1, times: []time.Duration{time.Millisecond}}, "ok ok MISSED ok ok "},
		{full, 8, &tally{made: 1, due: 2, times: []time.Duration{time.Millisecond}}, "ok ok ok MISSED ok "},
		{full, 8, calls(1060 * time.Microsecond), "ok ok ok ok MISSED "},
		{scaled, 1, calls(2 * time.Millisecond), "ok  ok ok  "},
	} {
		var b besides
		b.add(test.read, window{calls(time.Millisecond), calls(time.Millisecond)}, window{test.bombs, calls(time.Millisecond)})
		got := ""
		for _, r := range b.polledRows(&suite{size: test.size}, 8, 100)[:5] {
			got += string(r.verdict) + " "
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}
