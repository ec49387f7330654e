package state

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/auth"
	"drawbridge/test/timebox"
)

// TestRatesOfAnotherClock: a counter from the clock of a Redis that was an hour ahead, before a failover or a correction, does not refuse for
// that hour: it is as if all was used up, and no more.
func TestRatesOfAnotherClock(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	now := time.Unix(1_800_000_000, 0)
	m.SetTime(now.Add(time.Hour))
	a, _ := pair(t, m, nil)
	rates, l := a.RateCounters(NewLocalRateCounters(0, nil), false), Limit{time.Second, 3}
	if d, err := rates.Take(t.Context(), "k", l, 1); !d.Allowed || err != nil {
		t.Fatalf("%+v %v", d, err)
	}
	m.SetTime(now)
	if d, _ := rates.Take(t.Context(), "k", l, 1); d.Allowed || d.RetryAfter != time.Second || d.Reset != 3*time.Second {
		t.Errorf("after the clock was set back: %+v", d)
	}
	m.SetTime(now.Add(time.Second))
	if d, _ := rates.Take(t.Context(), "k", l, 1); !d.Allowed || d.Reset != 3*time.Second {
		t.Errorf("a second later: %+v", d)
	}
}

// TestRaisedRate: who has used up a limit with a long memory is not held to it when the limit is one with a short one.
func TestRaisedRate(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	now := time.Unix(1_800_000_000, 0)
	m.SetTime(now)
	a, _ := pair(t, m, nil)
	for name, rates := range map[string]RateCounters{"shared": a.RateCounters(NewLocalRateCounters(0, nil), false), "local": NewLocalRateCounters(0, func() time.Time { return now })} {
		old, raised := Limit{time.Hour, 2}, Limit{time.Second, 10}
		_, _ = rates.Take(t.Context(), "k", old, 2)
		if d, _ := rates.Take(t.Context(), "k", raised, 1); d.Allowed || d.RetryAfter != time.Second {
			t.Errorf("%s: at once: %+v", name, d)
		}
		if name == "local" {
			now = now.Add(time.Second)
		} else {
			m.SetTime(now.Add(time.Second))
		}
		if d, _ := rates.Take(t.Context(), "k", raised, 1); !d.Allowed {
			t.Errorf("%s: a second later: %+v", name, d)
		}
		m.SetTime(now)
	}
}

// TestEndedByWhoLeaves: a session that its client ends, without waiting for the answer, has ended everywhere.
func TestEndedByWhoLeaves(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var ends [2]*SharedTombstones
	a, _ := pair(t, m, func(a, b *Shared) {
		ends = [2]*SharedTombstones{a.Tombstones(NewTombstones(0, nil)), b.Tombstones(NewTombstones(0, nil))}
	})
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if ends[1].Revoked(t.Context(), "session") { // from now on it relies on being told
		t.Fatal("it has ended before")
	}
	if err := ends[0].Revoke(left, "o", "session", a.o.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other replica knows", func() bool { return ends[1].Revoked(t.Context(), "session") })
}

// TestProofOfWhoLeaves: who goes away while a proof is looked up has not had it accepted.
func TestProofOfWhoLeaves(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	id, until := sha256.Sum256([]byte("proof")), time.Now().Add(time.Minute)
	if seen, err := a.Replays(auth.NewReplayMemory(nil), false).Seen(t.Context(), "o", id, until); seen || err != nil {
		t.Fatal(seen, err)
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if seen, err := b.Replays(auth.NewReplayMemory(nil), false).Seen(left, "o", id, until); !seen && err == nil {
		t.Error("a proof that was used counts as new")
	}
	if first, err := b.Once(NewLocalOnce(nil), false).Spend(left, "o", "id", until); first && err == nil {
		t.Error("what could not be asked counts as first")
	}
}

// TestRecordsOfAnotherClock: a record whose end has come by the clock of Redis, but not by that of the replicas, is there for all of its time.
func TestRecordsOfAnotherClock(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	behind := func() time.Time { return time.Now().Add(-time.Hour) }
	a, b := pair(t, m, func(a, b *Shared) { a.o.Now, b.o.Now = behind, behind })
	theirs, ours := a.Records("task", NewLocalRecords(RecordLimits{}, behind)), b.Records("task", NewLocalRecords(RecordLimits{}, behind))
	_ = theirs.Put(t.Context(), "t", "o", []byte("stands"), behind().Add(10*time.Minute))
	if value, ok, err := ours.Get(t.Context(), "t"); string(value) != "stands" || !ok || err != nil {
		t.Errorf("%q %v %v", value, ok, err)
	}
	if ttl := m.TTL(a.name("task", digest("t"))); ttl <= 9*time.Minute || ttl > 10*time.Minute {
		t.Errorf("it ends after %s", ttl)
	}
}

// TestLostEnd: the end of a session that nobody could be told of is found out all the same.
func TestLostEnd(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var ends [2]*SharedTombstones
	var later atomic.Int64
	a, _ := pair(t, m, func(a, b *Shared) {
		b.o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
		ends = [2]*SharedTombstones{a.Tombstones(NewTombstones(0, nil)), b.Tombstones(NewTombstones(0, nil))}
	})
	if ends[1].Revoked(t.Context(), "session") {
		t.Fatal("it has ended before")
	}
	refuse(m, "NOPERM no publish", "PUBLISH").Store(true)
	_ = ends[0].Revoke(t.Context(), "o", "session", a.o.Now().Add(time.Hour))
	if ends[1].Revoked(t.Context(), "session") {
		t.Error("within the minute it is asked again")
	}
	later.Store(int64(askedLife))
	if !ends[1].Revoked(t.Context(), "session") {
		t.Error("a minute later it is not known")
	}
}

// TestRefusedToListen: a Redis whose access control lets nobody listen is not asked again twenty times a second, and the log says why.
func TestRefusedToListen(t *testing.T) {
	t.Parallel()
	m, log, asked := miniredis.RunT(t), &logged{}, make(chan time.Time, 100)
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "SUBSCRIBE" {
			return false
		}
		asked <- time.Now()
		c.WriteError("NOPERM User gate has no permissions to access one of the channels")
		return true
	})
	s := newShared(t, m.Addr(), log, nil)
	s.Tombstones(NewTombstones(0, nil))
	begin(t, s)
	first := timebox.Receive(t, asked)
	for range 3 {
		timebox.Wait(t, asked)
	}
	if took := time.Since(first); took < 14*firstProbe {
		t.Errorf("it is asked three times more within %s", took)
	}
	if n := strings.Count(log.String(), "rejects an operation"); n != 1 || !strings.Contains(log.String(), "channels") || testutil.ToFloat64(s.failures[useMessages]) < 3 {
		t.Errorf("the log tells %d times:\n%s", n, log)
	}
}

// TestToldByWhoLeaves: what somebody says who does not wait for the answer, such as that a call is to end, is heard and kept.
func TestToldByWhoLeaves(t *testing.T) {
	t.Parallel()
	m, heard := miniredis.RunT(t), make(chan string, 1)
	a, b := pair(t, m, func(a, b *Shared) {
		for _, s := range []*Shared{a, b} {
			s.Bus().Subscribe("topic", func(message []byte) { heard <- string(message) })
		}
	})
	left, cancel := context.WithCancel(t.Context())
	cancel()
	a.Bus().Publish(left, "topic", []byte("cancel"))
	select {
	case <-heard:
	case <-time.After(5 * time.Second):
		t.Error("the message was not told")
	}
	records := []*SharedRecords{a.Records("task", NewLocalRecords(RecordLimits{}, nil)), b.Records("task", NewLocalRecords(RecordLimits{}, nil))}
	_ = records[0].Put(left, "t", "o", []byte("canceled"), time.Now().Add(time.Minute))
	if value, ok, err := records[1].Get(t.Context(), "t"); string(value) != "canceled" || !ok || err != nil {
		t.Errorf("%q %v %v", value, ok, err)
	}
}

// TestEndedWhileAway: a session that has ended while Redis was away has ended everywhere when it is back.
func TestEndedWhileAway(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var ends [2]*SharedTombstones
	a, b := pair(t, m, func(a, b *Shared) {
		ends = [2]*SharedTombstones{a.Tombstones(NewTombstones(0, nil)), b.Tombstones(NewTombstones(0, nil))}
	})
	m.Close()
	for i := range 3 {
		_ = ends[0].Revoke(t.Context(), "o", fmt.Sprint("session", i), time.Now().Add(time.Hour))
	}
	_ = ends[0].Revoke(t.Context(), "o", "over", time.Now().Add(time.Millisecond))
	if ends[1].Revoked(t.Context(), "session0") {
		t.Error("the other replica knows already")
	}
	if err := m.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Redis is reached again", func() bool { return a.Status().Up && b.Status().Up })
	for i := range 3 {
		eventually(t, "the other replica knows", func() bool { return ends[1].Revoked(t.Context(), fmt.Sprint("session", i)) })
	}
	eventually(t, "nothing is left to tell", func() bool {
		ends[0].mu.Lock()
		defer ends[0].mu.Unlock()
		return len(ends[0].pending) == 0
	})
}

// TestLateHold: a name that was taken, though Redis did not say so in time, is let go of.
func TestLateHold(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	m.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		if command != "SET" {
			return false
		}
		_ = m.Set(args[0], args[1])
		c.WriteError("ERR what is wrong comes behind what was done")
		return true
	})
	free, ok := a.Locks(NewLocalLocks()).Lock(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it, and it is not given")
	}
	m.Server().SetPreHook(nil)
	free()
	free, ok = b.Locks(NewLocalLocks()).Lock(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it any more, and it is not given")
	}
	free()
}

// TestFlapping: what stands before Redis answers probes and ends a connection at a command that it does not know. That is tried less and less often,
// and does not flood the log.
func TestFlapping(t *testing.T) {
	t.Parallel()
	m, log := miniredis.RunT(t), &logged{}
	var asked atomic.Int64
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "SET" {
			return false
		}
		asked.Add(1)
		c.Close()
		return true
	})
	s := begin(t, newShared(t, m.Addr(), log, nil))
	once := s.Once(NewLocalOnce(nil), false)
	first, n := time.Now(), 0
	eventually(t, "it is asked five times", func() bool {
		n++
		if ok, err := once.Spend(t.Context(), "alice", fmt.Sprint(n), time.Now().Add(time.Minute)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return asked.Load() >= 5
	})
	if took := time.Since(first); took < 14*firstProbe {
		t.Errorf("it is asked five times within %s", took)
	}
	told := logLimiter{}
	for i := range 3 * maxLogged {
		if tell, untold := told.allow(first.Add(time.Duration(i))); tell != (i < maxLogged) || untold != 0 {
			t.Errorf("%d: %v %d", i, tell, untold)
		}
	}
	if tell, untold := told.allow(first.Add(logInterval + time.Second)); !tell || untold != 2*maxLogged {
		t.Errorf("a minute later: %v %d", tell, untold)
	}
}
