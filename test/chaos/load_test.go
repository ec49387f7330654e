package main

import (
	"context"
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
