package state

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// TestHoldWhoseReleaseIsLost: a name that could not be let go of in Redis is free for others soon.
func TestHoldWhoseReleaseIsLost(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Locks(NewLocalLocks()), b.Locks(NewLocalLocks())
	release, ok := first.Lock(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it")
	}
	for range 10 {
		a.breakers[useLocks].timedOut(time.Now())
	}
	release()
	m.FastForward(6 * time.Second)
	if release, ok = second.Lock(t.Context(), "task"); !ok {
		t.Fatal("nobody has it any more, and it is not given")
	}
	release()
}

// TestHoldIsRenewed: a name is held as long as nobody lets go of it, however long that takes.
func TestHoldIsRenewed(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var first *SharedLocks
	_, b := pair(t, m, func(a, _ *Shared) { first = a.Locks(NewLocalLocks()) })
	second := b.Locks(NewLocalLocks())
	release, ok := first.Lock(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it")
	}
	key := b.name("hold", digest("task"))
	for range 3 {
		m.FastForward(lockLease - time.Millisecond)
		eventually(t, "it is held for longer", func() bool { return m.TTL(key) > lockLease/2 })
		if _, ok := second.Lock(t.Context(), "task"); ok {
			t.Error("two have it")
		}
	}
	release()
	if release, ok = second.Lock(t.Context(), "task"); !ok {
		t.Fatal("it was not released")
	}
	release()
}

// TestHoldThatRedisHasLost: what is held at one replica is held against others again, soon after Redis has lost it, or was away when it was taken, and is
// free for them when it is let go of.
func TestHoldThatRedisHasLost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, after func(m *miniredis.Miniredis) error
	}{
		"lost": {
			func(*miniredis.Miniredis) error { return nil },
			func(m *miniredis.Miniredis) error { m.FlushAll(); return nil },
		},
		"away": {
			func(m *miniredis.Miniredis) error { m.Close(); return nil },
			func(m *miniredis.Miniredis) error { return m.Restart() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			var first *SharedLocks
			a, b := pair(t, m, func(a, _ *Shared) { first = a.Locks(NewLocalLocks()) })
			second := b.Locks(NewLocalLocks())
			if err := tt.before(m); err != nil {
				t.Fatal(err)
			}
			release, ok := first.Lock(t.Context(), "task")
			if !ok {
				t.Fatal("nobody has it")
			}
			if err := tt.after(m); err != nil {
				t.Fatal(err)
			}
			eventually(t, "Redis is there", func() bool { return a.Status().Up && b.Status().Up })
			eventually(t, "it is held there", func() bool { return m.Exists(b.name("hold", digest("task"))) })
			if _, ok := second.Lock(t.Context(), "task"); ok {
				t.Error("two have it")
			}
			release()
			if release, ok = second.Lock(t.Context(), "task"); !ok {
				t.Fatal("it was not released")
			}
			release()
		})
	}
}

// TestHoldLetGoOfWhileRenewed: a name that is let go of while it is renewed is not held by nobody.
func TestHoldLetGoOfWhileRenewed(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var first *SharedLocks
	var release func()
	var armed atomic.Bool
	m.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
		if strings.HasPrefix(command, "EVAL") && slices.Contains(args, fmt.Sprint(lockLease.Milliseconds())) && armed.CompareAndSwap(true, false) {
			release()
		}
		return false
	})
	a, _ := pair(t, m, func(a, _ *Shared) { first = a.Locks(NewLocalLocks()) })
	release, _ = first.Lock(t.Context(), "task")
	armed.Store(true)
	eventually(t, "it is renewed", func() bool { return !armed.Load() })
	eventually(t, "it is free", func() bool { return !m.Exists(a.name("hold", digest("task"))) })
	time.Sleep(2 * repeatPause)
	if m.Exists(a.name("hold", digest("task"))) {
		t.Error("nobody has it, and it is held")
	}
}
