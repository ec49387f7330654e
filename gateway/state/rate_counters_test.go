package state

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestLocalRates: a burst is allowed at once, then one call in each interval, and who is refused learns exactly when to come
// again.
func TestLocalRates(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	start := time.Unix(1_800_000_000, 0)
	now := start
	r := NewLocalRateCounters(0, func() time.Time { return now })
	tenth := Limit{Interval: 100 * ms, Burst: 3}
	for _, c := range []struct {
		name string
		at   time.Duration
		n    int
		want Decision
	}{
		{"asking counts nothing", 0, 0, Decision{Allowed: true, Remaining: 3}},
		{"first", 0, 1, Decision{Allowed: true, Remaining: 2, Reset: 100 * ms}},
		{"two at once", 0, 2, Decision{Allowed: true, Reset: 300 * ms}},
		{"over", 0, 1, Decision{RetryAfter: 100 * ms, Reset: 300 * ms}},
		{"asking is refused as well", 0, 0, Decision{RetryAfter: 100 * ms, Reset: 300 * ms}},
		{"too early", 99 * ms, 1, Decision{RetryAfter: ms, Reset: 201 * ms}},
		{"when it was told", 100 * ms, 1, Decision{Allowed: true, Reset: 300 * ms}},
		{"all or none", 250 * ms, 2, Decision{Remaining: 1, RetryAfter: 50 * ms, Reset: 150 * ms}},
		{"one of them", 250 * ms, 1, Decision{Allowed: true, Remaining: 0, Reset: 250 * ms}},
		{"more than the burst is the burst", 499 * ms, 4, Decision{Remaining: 2, RetryAfter: ms, Reset: ms}},
		{"and the burst is there again", 500 * ms, 4, Decision{Allowed: true, Reset: 300 * ms}},
		{"a rest saves up no more than a burst", time.Hour, 1, Decision{Allowed: true, Remaining: 2, Reset: 100 * ms}},
		{"a clock that goes back allows nothing new", time.Hour - 250*ms, 1, Decision{RetryAfter: 100 * ms, Reset: 300 * ms}},
	} {
		now = start.Add(c.at)
		if got, err := r.Take(t.Context(), "k", tenth, c.n); got != c.want || err != nil {
			t.Errorf("%s: %+v %v, want %+v", c.name, got, err, c.want)
		}
	}
	if got, _ := r.Take(t.Context(), "other", tenth, 1); !got.Allowed || r.Len() != 2 {
		t.Errorf("a key of its own: %+v, %d keys", got, r.Len())
	}
	if got := r.TakeBytes([]byte("other"), tenth, 2); !got.Allowed || r.Len() != 2 {
		t.Errorf("the same key in bytes: %+v, %d keys", got, r.Len())
	}
	if got := r.TakeBytes([]byte("other"), tenth, 1); got.Allowed {
		t.Errorf("the same key in bytes is allowed too much: %+v", got)
	}
	// A smaller limit holds what was counted against it, as far as its own burst reaches, and a look at it is never below nothing.
	now = start
	for range 3 {
		_, _ = r.Take(t.Context(), "changed", tenth, 1)
	}
	if got, _ := r.Take(t.Context(), "changed", Limit{Interval: 100 * ms, Burst: 1}, 1); got != (Decision{RetryAfter: 100 * ms, Reset: 100 * ms}) {
		t.Errorf("after a change: %+v", got)
	}
}

// TestLocalRatesAreBounded: however many keys come, the store keeps its size, who comes for the first time is allowed, and a
// key that has used much is not forgotten for those that have used little.
func TestLocalRatesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := NewLocalRateCounters(100, func() time.Time { return now })
	l := Limit{Interval: time.Second, Burst: 10}
	for i := range 5000 {
		if d, _ := r.Take(t.Context(), fmt.Sprint(i), l, 1); !d.Allowed {
			t.Fatalf("key %d is refused at its first call", i)
		}
		if d, _ := r.Take(t.Context(), "much", l, 10); d.Allowed != (i == 0) {
			t.Fatalf("after %d keys the one that has used all is allowed: %v", i, d.Allowed)
		}
	}
	if n := r.Len(); n > 4*rateShards {
		t.Errorf("%d keys held", n)
	}
	// Those that have their burst again go first.
	now = now.Add(2 * time.Second)
	before := r.Len()
	for i := range rateShards * 20 {
		_, _ = r.Take(t.Context(), fmt.Sprint("new", i), l, 5)
	}
	if n := r.Len(); n > before {
		t.Errorf("%d keys held, %d before", n, before)
	}
	if d, _ := r.Take(t.Context(), "much", l, 10); d.Allowed {
		t.Error("the key that had used all was forgotten for others that were full again")
	}
}

// TestLocalRatesConcurrently: goroutines together are allowed exactly the burst.
func TestLocalRatesConcurrently(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := NewLocalRateCounters(0, func() time.Time { return now })
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if d, _ := r.Take(t.Context(), "k", Limit{Interval: time.Second, Burst: 123}, 1); d.Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	timebox.Done(t, wg.Wait)
	if allowed.Load() != 123 {
		t.Errorf("%d calls allowed", allowed.Load())
	}
}

// TestLocalRatesAllocateNothing for a key that is known.
func TestLocalRatesAllocateNothing(t *testing.T) {
	r := NewLocalRateCounters(0, nil)
	key := fmt.Sprint("k", 1)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = r.Take(t.Context(), key, Limit{Interval: time.Nanosecond, Burst: 10}, 1)
		r.TakeBytes([]byte{1, 2, 3}, Limit{Interval: time.Nanosecond, Burst: 10}, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// worstOf returns the decision that makes a call wait the longest; false if all allow it.
func worstOf(decisions []Decision) (Decision, bool) {
	var worst Decision
	refused := false
	for _, d := range decisions {
		if !d.Allowed && (!refused || d.RetryAfter > worst.RetryAfter) {
			worst, refused = d, true
		}
	}
	return worst, refused
}

// TestTakeAll: what one limit refuses is counted by none of them.
func TestTakeAll(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	r := NewLocalRateCounters(0, func() time.Time { return now })
	wide, narrow := Limit{Interval: time.Second, Burst: 5}, Limit{Interval: time.Minute, Burst: 1}
	takes := []Take{{"wide", wide, 1}, {"narrow", narrow, 1}, {"behind", wide, 2}}
	for i, want := range []Decision{{}, {RetryAfter: time.Minute, Reset: time.Minute}} {
		got, err := r.TakeAll(t.Context(), takes)
		if err != nil {
			t.Fatal(err)
		}
		worst, refused := worstOf(got)
		if worst != want || refused != (i > 0) || len(got) != 3 || got[0].Allowed != true || got[1].Allowed == refused {
			t.Errorf("%d: %+v", i, got)
		}
	}
	for key, want := range map[string]int{"wide": 4, "behind": 3} {
		if got, _ := r.Take(t.Context(), key, wide, 0); got.Remaining != want {
			t.Errorf("%q: %d calls are left, want %d", key, got.Remaining, want)
		}
	}
}
