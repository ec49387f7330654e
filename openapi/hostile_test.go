package openapi

import (
	"errors"
	"math"
	"testing"
	"time"

	"drawbridge/openapi/pacing"
	"drawbridge/test/hostile"
	"drawbridge/test/race"
)

// TestHostileGrowth checks that the work on any document grows no faster than n log n with its size, and that a
// document of ten times the size stays within the limits. It counts steps, which are the same on each machine. The
// error of an exhausted budget has a position.
func TestHostileGrowth(t *testing.T) {
	for _, k := range hostile.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			t.Logf("%8s %10s %10s %8s", "KiB", "steps", "of", "CPU ms")
			var first pacing.Used
			for _, times := range []int{1, 3, 10}[:race.Fewer(3, 1)] {
				text := k.Make(times * k.N)
				before := processorTime()
				used, err := usedBy(t, text)
				took := processorTime() - before
				t.Logf("%8d %10d %10d %8d %v", len(text)>>10, used.Steps, used.Allowed, took.Milliseconds(), err)
				if took > 3*time.Second && !race.Enabled {
					t.Errorf("%d KiB took %v of processor time", len(text)>>10, took)
				}
				if err != nil {
					continue
				}
				if times == 1 {
					first = used
				}
				grown := float64(used.Bytes) / float64(max(first.Bytes, 1))
				if most := 20_000 + float64(first.Steps)*grown*(1+math.Log2(grown)); float64(used.Steps) > most {
					t.Errorf("%d times the size took %d steps, once %d; more than n log n, %.0f", times, used.Steps, first.Steps, most)
				}
			}
		})
	}
}

// usedBy returns the used part of a document's budget. The error is that of an exhausted budget.
func usedBy(t *testing.T, text string) (pacing.Used, error) {
	t.Helper()
	doc, err := Load(t.Context(), write(t, t.TempDir(), "spec.json", text), LoadOptions{})
	if err != nil {
		return pacing.Used{}, exceededAt(t, err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		return pacing.Used{}, exceededAt(t, err)
	}
	return api.Used, nil
}

func exceededAt(t *testing.T, err error) error {
	t.Helper()
	e := (*pacing.Exceeded)(nil)
	if errors.As(err, &e) && e.Time > 0 {
		t.Errorf("it is a matter of time: %v", err)
	}
	return err
}

// TestExceededPlace checks that a document that exhausts its budget is refused with the current operation and the next
// step, each time after the same number of steps, and that its partial result is dropped.
func TestExceededPlace(t *testing.T) {
	var text string
	for _, k := range hostile.Kinds() {
		if k.Name == "all-of-ring" {
			text = k.Make(30 * k.N)
		}
	}
	name := write(t, t.TempDir(), "spec.json", text)
	for range 2 {
		doc, err := Load(t.Context(), name, LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		api, err := doc.Compile(t.Context(), CompileOptions{})
		e := (*pacing.Exceeded)(nil)
		if api != nil || !errors.As(err, &e) {
			t.Fatalf("%v, %v", api, err)
		}
		want := name + ":1:116: /paths/~1a/post: " + (&pacing.Exceeded{Steps: 1_000_000 + int64(len(text))/2, Bytes: int64(len(text))}).Error()
		if err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
