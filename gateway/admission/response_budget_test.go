package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestReservation: a request holds as much as one response may have, then what is in memory twice, and in the end nothing.
func TestReservation(t *testing.T) {
	b := NewResponseBudget(1000)
	held := func(want int64) {
		t.Helper()
		if !b.memory.TryAcquire(1000 - want) {
			t.Fatalf("more than %d bytes are held", want)
		}
		if want > 0 && b.memory.TryAcquire(1) {
			t.Fatalf("less than %d bytes are held", want)
		}
		b.memory.Release(1000 - want)
	}
	r := b.NewReservation(Caller{Principal: "one"})
	if err := r.Begin(t.Context(), 300, 100); err != nil {
		t.Fatal(err)
	}
	held(300)
	if !r.Add(20) || r.Add(181) || !r.Add(-181) {
		t.Error("more than one response may have, or less")
	}
	r.Finish(0) // 120 are used
	held(240)
	r.Retain(120)
	if err := r.Begin(t.Context(), 300, 50); err != nil {
		t.Fatal(err)
	}
	held(420)
	r.Finish(50)
	held(240)
	r.Release(120)
	held(1) // it is the caller's until the end
	if err := r.Begin(t.Context(), 900, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.NewReservation(Caller{}).Begin(canceled(t), 200, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	r.End()
	held(0)
	if err := r.Begin(t.Context(), 1, 0); !errors.Is(err, ErrReservationEnded) {
		t.Error(err)
	}
}

// TestExhausted: a request that holds memory never waits for more.
func TestExhausted(t *testing.T) {
	b := NewResponseBudget(1000)
	one, two := b.NewReservation(Caller{}), b.NewReservation(Caller{})
	for _, r := range []*Reservation{one, two} {
		if err := r.Begin(t.Context(), 500, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := one.Begin(t.Context(), 600, 0); !errors.Is(err, ErrBudgetExhausted) {
		t.Error(err)
	}
	two.End()
	if err := one.Begin(t.Context(), 2000, 0); err != nil { // it gets all that there is
		t.Error(err)
	}
	one.End()
}

// TestHold: bytes that are in memory wait for a second, and only if they are large.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewResponseBudget(2 * LargeResponse)
		release, ok := b.Hold(t.Context(), Caller{}, 4*LargeResponse)
		if !ok {
			t.Fatal("nothing is free")
		}
		if _, ok := b.Hold(t.Context(), Caller{}, LargeResponse); !ok {
			t.Error("a small one waited")
		}
		if _, ok := b.Hold(t.Context(), Caller{}, LargeResponse+1); ok {
			t.Error("a large one was held though nothing is free")
		}
		release()
		release, ok = b.Hold(t.Context(), Caller{}, LargeResponse+1)
		if !ok {
			t.Fatal("nothing was released")
		}
		release()
	})
	if release, ok := NewResponseBudget(0).Hold(t.Context(), Caller{}, 1<<40); !ok {
		t.Error("an unlimited budget is exhausted")
	} else {
		release()
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
