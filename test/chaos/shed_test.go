package main

import (
	"errors"
	"testing"
	"time"
)

// TestShedIsJudged: somebody has to be refused for want of memory, and nobody in any other way.
func TestShedIsJudged(t *testing.T) {
	now := time.Now()
	shed := func(n int) tally {
		return tally{made: 4, failed: n, words: map[string]int{errShed.Error(): n}, marks: []mark{{due: now.Add(time.Second)}}}
	}
	good, other := shed(0), shed(1)
	other.failed++
	late := shed(1)
	late.marks = []mark{{due: now.Add(3 * time.Second), failed: true}, {due: now.Add(4 * time.Second)}}
	for _, test := range []struct {
		many, during, after tally
		rss                 float64
		want                string
	}{
		{shed(1), good, good, 200, "ok ok ok ok "},
		{good, good, good, 200, "MISSED ok ok ok "},
		{other, good, good, 200, "MISSED ok ok ok "},
		{shed(4), good, good, 200, "MISSED ok ok ok "},
		{shed(1), shed(1), late, 257, "ok MISSED MISSED MISSED "},
		{shed(1), good, tally{}, 200, "ok ok ok MISSED "},
	} {
		got := ""
		for _, r := range shedRows(&suite{size: scaled}, 150, &test.many, &test.during, &test.after, now, test.rss) {
			got += string(r.verdict) + " "
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test, got, test.want)
		}
	}
}

// TestShedInWords: what tells that memory is short, and when to come again, is a refusal in words; the others stay what they are.
func TestShedInWords(t *testing.T) {
	words := `{"error":{"message":"there is no room for more calls: come again in 1 second; lists are served"}}`
	for _, err := range []error{
		nil, errors.New("EOF"), &refusal{503, "", words}, &refusal{429, "1", words}, &refusal{503, "1", "too many calls run: come again in 1 second; lists are served"},
	} {
		if got := shedOf(err); got != err { //nolint:errorlint // it is to be the same
			t.Errorf("%v became %v", err, got)
		}
	}
	if err := shedOf(&refusal{503, "1", words}); !errors.Is(err, errShed) {
		t.Errorf("a refusal in words: %v", err)
	}
}
