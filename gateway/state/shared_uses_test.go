package state

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/auth"
	"drawbridge/test/timebox"
)

// TestSharedRates: two replicas count together, exactly as one process counts by itself.
func TestSharedRates(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	now := time.Unix(1_800_000_000, 0)
	m.SetTime(now)
	a, b := pair(t, m, nil)
	replicas := []RateCounters{a.RateCounters(NewLocalRateCounters(0, nil), false), b.RateCounters(NewLocalRateCounters(0, nil), false)}
	alone := NewLocalRateCounters(0, func() time.Time { return now })
	limits := []Limit{{100 * time.Millisecond, 3}, {time.Second, 1}, {time.Millisecond, 40}}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		step := time.Duration(random.IntN(120)) * time.Millisecond
		now = now.Add(step)
		m.SetTime(now)
		m.FastForward(step)
		var takes []Take
		for k, l := range limits[:1+random.IntN(len(limits))] {
			takes = append(takes, Take{fmt.Sprint("key", k), l, random.IntN(3)})
		}
		want, _ := alone.TakeAll(t.Context(), takes)
		got, err := replicas[random.IntN(2)].TakeAll(t.Context(), takes)
		// Which ones would have allowed what another refuses is told before or after it was counted.
		for n := range takes {
			if err != nil || got[n].Allowed != want[n].Allowed && !refusedBy(want) || got[n].RetryAfter != want[n].RetryAfter && !refusedBy(want) {
				t.Fatalf("%d: %+v of %+v: %+v, want %+v, %v", i, takes[n], takes, got[n], want[n], err)
			}
		}
		if refusedBy(got) != refusedBy(want) {
			t.Fatalf("%d: %+v: %+v, want %+v", i, takes, got, want)
		}
	}
}

func refusedBy(d []Decision) bool {
	_, refused := worstOf(d)
	return refused
}

// TestSharedRatesAway: without Redis a replica has its share of the limit, or, closed, nothing.
func TestSharedRatesAway(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	eventually(t, "there are two", func() bool { return a.Status().Replicas == 2 && b.Status().Replicas == 2 })
	open, closed := a.RateCounters(NewLocalRateCounters(0, nil), false), b.RateCounters(NewLocalRateCounters(0, nil), true)
	m.Close()
	l := Limit{time.Hour, 10}
	allowed := 0
	for range 20 {
		if d, err := open.Take(t.Context(), "k", l, 1); d.Allowed && err == nil {
			allowed++
		}
	}
	if allowed != 5 {
		t.Errorf("%d calls are allowed, half of 10 are this replica's", allowed)
	}
	if d, err := closed.Take(t.Context(), "k", l, 1); d.Allowed || !d.Uncounted || d.RetryAfter != time.Second || err != nil {
		t.Errorf("closed: %+v %v", d, err)
	}
	if got := (Limit{time.Second, 2}).share(5); got != (Limit{5 * time.Second, 1}) {
		t.Errorf("a share is never less than a call: %+v", got)
	}
}

// TestSharedRatesPoison: whatever somebody writes into Redis, a limit is decided, and heals.
func TestSharedRatesPoison(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	m.SetTime(time.Unix(1_800_000_000, 0))
	a, _ := pair(t, m, nil)
	rates := a.RateCounters(NewLocalRateCounters(0, nil), false)
	key := a.name("rate", a.pseudonym("k"))
	for _, poison := range []string{"", "garbage", "nan", "-nan", "inf", "1e400", "-1e308", "9999999999999999999999", "0x10", strings.Repeat("9", 100)} {
		_ = m.Set(key, poison)
		if d, err := rates.Take(t.Context(), "k", Limit{time.Second, 1}, 1); !d.Allowed || err != nil {
			t.Errorf("%q: %+v %v", poison, d, err)
		}
		if d, _ := rates.Take(t.Context(), "k", Limit{time.Second, 1}, 1); d.Allowed {
			t.Errorf("%q: it does not count any more: %+v", poison, d)
		}
	}
	m.Del(key)
	_, _ = m.Lpush(key, "list")
	if d, err := rates.Take(t.Context(), "k", Limit{time.Second, 1}, 1); !d.Allowed || err != nil || !a.Status().Up {
		t.Errorf("a list: %+v %v %+v", d, err, a.Status())
	}
}

// TestSharedOnce: what is used at one replica is used at all of them, and one alone is the first.
func TestSharedOnce(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	until := time.Now().Add(time.Minute)
	stores := []Once{a.Once(NewLocalOnce(nil), false), b.Once(NewLocalOnce(nil), false)}
	var mu sync.Mutex
	var wg sync.WaitGroup
	firsts := map[string]int{}
	for i := range 40 {
		wg.Go(func() {
			id := fmt.Sprint("id", i/4)
			if first, err := stores[i%2].Spend(t.Context(), "alice", id, until); err != nil {
				t.Error(err)
			} else if first {
				mu.Lock()
				defer mu.Unlock()
				firsts[id]++
			}
		})
	}
	timebox.Done(t, wg.Wait)
	for id, n := range firsts {
		if n != 1 {
			t.Errorf("%d were the first to use %s", n, id)
		}
	}
	if len(firsts) != 10 {
		t.Errorf("%d ids were used", len(firsts))
	}
	id := sha256.Sum256([]byte("proof"))
	proofs := []auth.ReplayCache{a.Replays(auth.NewReplayMemory(nil), false), b.Replays(auth.NewReplayMemory(nil), true)}
	for i, want := range []bool{false, true} {
		if seen, err := proofs[i].Seen(t.Context(), "alice", id, until); seen != want || err != nil {
			t.Errorf("proof at %d: %v %v", i, seen, err)
		}
	}
	m.Close()
	id = sha256.Sum256([]byte("another"))
	if seen, err := proofs[0].Seen(t.Context(), "alice", id, until); seen || err != nil {
		t.Errorf("without Redis: %v %v", seen, err)
	}
	if seen, err := proofs[0].Seen(t.Context(), "alice", id, until); !seen || err != nil {
		t.Errorf("and again: %v %v", seen, err)
	}
	if _, err := proofs[1].Seen(t.Context(), "alice", id, until); !errors.Is(err, ErrAway) {
		t.Errorf("closed: %v", err)
	}
}

// TestLocalOnce: an id counts once until its time, and what can't be remembered is not guessed.
func TestLocalOnce(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	o := NewLocalOnce(func() time.Time { return now })
	spend := func(id string) (bool, error) { return o.Spend(t.Context(), id, id, now.Add(time.Minute)) }
	for i, want := range []bool{true, false} {
		if first, err := spend("a"); first != want || err != nil {
			t.Errorf("%d: %v %v", i, first, err)
		}
	}
	for i := range maxOnce - 1 {
		_, _ = spend(fmt.Sprint(i))
	}
	if _, err := spend("one too many"); err == nil {
		t.Error("it remembers more than it can")
	}
	now = now.Add(time.Minute)
	if first, err := spend("a"); !first || err != nil {
		t.Errorf("after its time: %v %v", first, err)
	}
	_, _ = spend("another")
	if len(o.used) != 2 {
		t.Errorf("%d are remembered", len(o.used))
	}
}

// TestSharedTombstones: what one replica ends has ended for all, at once for those that listen, and for one that comes later.
func TestSharedTombstones(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var ends [2]*SharedTombstones
	a, b := pair(t, m, func(a, b *Shared) {
		ends = [2]*SharedTombstones{a.Tombstones(NewTombstones(0, nil)), b.Tombstones(NewTombstones(0, nil))}
	})
	until := time.Now().Add(time.Hour)
	if ends[1].Revoked(t.Context(), "session") {
		t.Error("revoked before it was")
	}
	asked := m.CommandCount()
	for range 100 {
		if ends[1].Revoked(t.Context(), "session") {
			t.Error("revoked before it was")
		}
	}
	if n := m.CommandCount() - asked; n > 5 {
		t.Errorf("Redis was asked %d times for what it has said", n)
	}
	_ = ends[0].Revoke(t.Context(), "alice", "session", until)
	eventually(t, "the other replica has heard of it", func() bool { return ends[1].Revoked(t.Context(), "session") })
	if !ends[0].Revoked(t.Context(), "session") || ends[1].Revoked(t.Context(), "another") {
		t.Error("it is the other way round")
	}
	_ = ends[0].Revoke(t.Context(), "alice", "past", time.Now().Add(-maxClockSkew))
	late := newShared(t, m.Addr(), nil, nil)
	lateEnds := late.Tombstones(NewTombstones(0, nil))
	begin(t, late)
	eventually(t, "Redis is reached", func() bool { return late.Status().Up })
	if !lateEnds.Revoked(t.Context(), "session") || lateEnds.Revoked(t.Context(), "past") {
		t.Error("a replica that came later does not know")
	}
	// While Redis is away, and has lost all of it, those who were there still know.
	m.FlushAll()
	m.Close()
	if !ends[1].Revoked(t.Context(), "session") || ends[1].Revoked(t.Context(), "unknown") {
		t.Error("without Redis")
	}
	_ = ends[0].Revoke(t.Context(), "alice", "in between", until)
	if !ends[0].Revoked(t.Context(), "in between") {
		t.Error("what was ended without Redis goes on")
	}
	if a.Status().Up || b.Status().Up && b.bus.epoch.Load() == 0 {
		t.Error("nobody has noticed")
	}
}

// TestSharedLocks: one replica at a time has a name, and loses it with its process.
func TestSharedLocks(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Locks(NewLocalLocks()), b.Locks(NewLocalLocks())
	release, ok := first.Lock(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it")
	}
	for _, h := range []Locks{first, second} {
		if _, ok := h.Lock(t.Context(), "task"); ok {
			t.Error("two have it")
		}
	}
	release()
	release, ok = second.Lock(t.Context(), "task")
	if !ok {
		t.Fatal("it was not released")
	}
	m.FastForward(2 * time.Minute) // its process has died, as far as the other can tell
	other, ok := first.Lock(t.Context(), "task")
	if !ok {
		t.Fatal("it is held for ever")
	}
	release() // which must not take away what is another's now
	if _, ok := second.Lock(t.Context(), "task"); ok {
		t.Error("two have it")
	}
	other()
	m.Close()
	if release, ok = second.Lock(t.Context(), "task"); !ok {
		t.Fatal("without Redis nobody else can have it")
	}
	release()
}
