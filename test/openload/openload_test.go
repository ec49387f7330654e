package openload

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLoad(t *testing.T) {
	for _, c := range []struct {
		name          string
		rate, workers int
		takes, length time.Duration
		due, made     int
		slowest       time.Duration // from when a call was due
	}{
		{"at its rate", 1000, 2, 0, 10 * time.Second, 10_000, 10_000, 0},
		{"as many under way as there are workers", 100, 10, 100 * time.Millisecond, 5 * time.Second, 500, 500, 100 * time.Millisecond},
		// Half of what is due: those that wait are made after the end, the others never.
		{"behind its rate", 100, 5, 100 * time.Millisecond, 10 * time.Second, 1000, 600, 6 * time.Second},
		{"held up", 10, 1, time.Hour, time.Minute, 600, 11, 11*time.Hour - time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var slowest time.Duration
				made, start := 0, time.Now()
				l := Start(t.Context(), c.rate, c.workers, func(worker, n int, due time.Time) {
					if want := start.Add(time.Duration(n) * time.Second / time.Duration(c.rate)); !due.Equal(want) {
						t.Errorf("call %d was due %v after the start, want %v", n, due.Sub(start), want.Sub(start))
					}
					time.Sleep(c.takes)
					mu.Lock()
					defer mu.Unlock()
					made++
					slowest = max(slowest, time.Since(due))
				})
				time.Sleep(c.length - time.Nanosecond)
				due := l.Stop()
				if due != c.due || made != c.made || due != l.Stop() {
					t.Errorf("%d were due and %d were made, want %d and %d", due, made, c.due, c.made)
				}
				if slowest > c.slowest+time.Second || slowest < c.slowest {
					t.Errorf("the slowest took %v, want %v", slowest, c.slowest)
				}
			})
		})
	}
}

// TestCancelDoesNotWait: what runs or waits is made all the same, and what would have come after is no longer due.
func TestCancelDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		made, start := 0, time.Now()
		l := Start(t.Context(), 10, 1, func(int, int, time.Time) {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			made++
		})
		time.Sleep(250 * time.Millisecond)
		l.Cancel()
		if took := time.Since(start); took != 250*time.Millisecond {
			t.Errorf("it is cancelled after %v", took)
		}
		due := l.Stop()
		if took := time.Since(start); due != 3 || made != 3 || took != 3*time.Second {
			t.Errorf("%d were due and %d were made in %v, want 3 and 3 in 3 s", due, made, took)
		}
	})
}
