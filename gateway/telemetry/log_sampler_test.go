package telemetry

import (
	"fmt"
	"testing"
	"time"
)

// TestLogSampler: of calls that fail alike the log has ten lines in a minute, says with the last that more are only counted, and begins anew after it.
func TestLogSampler(t *testing.T) {
	t.Parallel()
	var f LogSampler
	now := time.Unix(1_800_000_000, 0)
	count := func(api string, o string, calls int) (told, lasts, untold int) {
		for range calls {
			line := f.Sample(api, o, now)
			if line.Logged {
				told++
			}
			if line.last {
				lasts++
			}
			untold += line.untold
		}
		return told, lasts, untold
	}
	for _, step := range []struct {
		what                string
		wait                time.Duration
		api                 string
		outcome             string
		calls               int
		told, lasts, untold int
	}{
		{"a few", 0, "a", "open", 9, 9, 0, 0},
		{"the last and more", 0, "a", "open", 500, 1, 1, 0},
		{"another outcome", 0, "a", "timeout", 3, 3, 0, 0},
		{"another API", 0, "b", "open", 11, 10, 1, 0},
		{"within the minute", SampleSpan - 1, "a", "open", 5, 0, 0, 0},
		{"after it", 1, "a", "open", 2, 2, 0, 504},
		{"after a few", SampleSpan, "a", "timeout", 1, 1, 0, 0},
	} {
		now = now.Add(step.wait)
		if told, lasts, untold := count(step.api, step.outcome, step.calls); told != step.told || lasts != step.lasts || untold != step.untold {
			t.Errorf("%s: %d told, %d last, %d untold", step.what, told, lasts, untold)
		}
	}
	for i := range 3 * maxKinds {
		now = now.Add(time.Second)
		f.Sample(fmt.Sprint(i), "open", now)
	}
	if n := len(f.kinds); n > maxKinds {
		t.Errorf("%d kinds are remembered", n)
	}
}
