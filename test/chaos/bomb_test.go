package main

import (
	"errors"
	"testing"
)

// TestBombsAreRefused: any other error is no refusal of a bomb, and a bomb that was not sent was none.
func TestBombsAreRefused(t *testing.T) {
	const large = `The service "things" sent an answer that is too large. The call may have taken effect.`
	for _, test := range []struct {
		text string
		err  error
		want bool
	}{
		{large, errTool, true},
		{large, nil, false},
		{large + "aaaa", errTool, false},
		{large + "\x00", errTool, false},
		{"one answered 500", errTool, false},
		{`The service "things" broke off before its answer was complete.`, errTool, false},
		{large, errors.New("status 503"), false},
	} {
		if got := refusedAsTooLarge(test.text, test.err); got != test.want {
			t.Errorf("%q, %v: %v", test.text, test.err, got)
		}
	}
	for _, test := range []struct {
		refused, begun int
		want           verdict
	}{{30, 30, ok}, {29, 30, missed}, {30, 0, missed}, {30, 60, missed}} {
		if got := exploded("gzip", 30, test.refused, test.begun); got.verdict != test.want {
			t.Errorf("%+v, want %s", got, test.want)
		}
	}
}
