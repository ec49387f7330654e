package main

import (
	"errors"
	"testing"
	"time"
)

// TestBrokenAnswers: the time of a call is that of its last cut, and an answer that nobody cut is none of them.
func TestBrokenAnswers(t *testing.T) {
	type call struct {
		text string
		err  error
		cuts int
		took time.Duration
	}
	well := call{"The service broke off.", errTool, 1, time.Millisecond}
	twice := call{"The service broke off.", errTool, 2, 15 * time.Millisecond}
	for _, test := range []struct {
		name        string
		once, again []call
		want        string // the first letter of each verdict
	}{
		{"as they should be", []call{well, well}, []call{well, twice}, "ooo oo"},
		{"a pause without retries", []call{well, {well.text, errTool, 1, 60 * time.Millisecond}}, []call{well, twice}, "ooo Mo"},
		{"a pause with retries", []call{well}, []call{well, {well.text, errTool, 2, 60 * time.Millisecond}}, "ooo oM"},
		{"sent again without retries", []call{well, twice}, []call{well, twice}, "ooM oo"},
		{"none sent again", []call{well}, []call{well}, "ooM oo"},
		{"shown in part", []call{well}, []call{twice, {"xxxx", errTool, 1, 0}}, "MMo oo"},
		{"taken for whole", []call{well, {"{}", nil, 1, 0}}, []call{twice}, "MMo oo"},
		{"not cut", []call{well, {well.text, errTool, 0, 0}}, []call{twice}, "oMo oo"},
		{"no answer", []call{well, {"", errors.New("EOF"), 1, 0}}, []call{twice}, "oMo oo"},
		{"no calls", nil, nil, "MoM MM"},
	} {
		var once, again broken
		for _, c := range test.once {
			once.note(c.text, c.err, c.cuts, c.took)
		}
		for _, c := range test.again {
			again.note(c.text, c.err, c.cuts, c.took)
		}
		got := ""
		for i, r := range brokenRows(&suite{size: scaled}, &once, &again) {
			if i == 3 {
				got += " "
			}
			if r.verdict == shown {
				r.verdict = "-"
			}
			got += string(r.verdict[0])
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
