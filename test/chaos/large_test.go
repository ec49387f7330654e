package main

import (
	"testing"
	"time"
)

// TestLargeAnswersAreJudged: a refusal in words is fine for a large answer, and anything else is not.
func TestLargeAnswersAreJudged(t *testing.T) {
	told := map[string]int{errInvited.Error(): 1}
	good := tally{due: 4, made: 4, times: []time.Duration{1}}
	for _, test := range []struct {
		much, few, later tally
		rss              float64
		want             string
	}{
		{good, good, good, 200, "ok ok  ok ok ok "},
		{tally{made: 4, failed: 1, words: told}, tally{due: 4, made: 4, failed: 1, words: told}, good, 200, "ok ok  ok ok ok "},
		{tally{made: 4, failed: 1}, good, good, 200, "MISSED ok  ok ok ok "},
		{tally{made: 1, failed: 1, words: told}, good, good, 200, "MISSED ok  ok ok ok "},
		{good, tally{due: 1, made: 1, failed: 1, words: told}, good, 200, "ok MISSED  ok ok ok "},
		{good, good, tally{due: 4, made: 4, failed: 1}, 257, "ok ok  ok MISSED MISSED "},
	} {
		got := ""
		for _, r := range largeRows(&suite{size: scaled}, 100, &test.much, &test.few, &good, &test.later, test.rss) {
			got += string(r.verdict) + " "
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}
