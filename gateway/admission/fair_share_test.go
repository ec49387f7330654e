package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestHalfForEachCaller: the large responses to one caller leave the other half of the budget to others; who waits for longer than its call may take is told.
func TestHalfForEachCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewResponseBudget(8)
		one, two := Caller{Principal: "one"}, Caller{Principal: "two"}
		acquire := func(of Caller, n int64) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return b.acquire(ctx, of, n)
		}
		for _, of := range []Caller{one, two} {
			if err := acquire(of, 4); err != nil {
				t.Fatal(err)
			}
		}
		b.shrink(two, 4, 0)
		if err := acquire(one, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("more than a half: %v", err)
		}
		waited := make(chan error)
		go func() { waited <- acquire(one, 1) }()
		synctest.Wait()
		b.shrink(one, 4, 3)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if b.tryGrow(one, 1, 2) || !b.tryGrow(Caller{}, 0, 4) || b.tryGrow(Caller{}, 4, 5) {
			t.Error("more than is there, or less")
		}
		b.shrink(Caller{}, 4, 0)
		b.shrink(one, 3, 0)
		b.shrink(one, 1, 0)
		if len(b.shares) != 0 || !b.memory.TryAcquire(8) {
			t.Errorf("something is left: %v", b.shares)
		}
	})
}
