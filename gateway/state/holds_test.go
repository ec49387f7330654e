package state

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// TestHoldWhoseReleaseIsLost: a name that could not be let go of in Redis is free for others soon.
func TestHoldWhoseReleaseIsLost(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	a, b := pair(t, m, nil)
	first, second := a.Holds(NewLocalHolds()), b.Holds(NewLocalHolds())
	release, ok := first.Hold(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it")
	}
	for range 10 {
		a.judges[useLocks].late(time.Now())
	}
	release()
	m.FastForward(6 * time.Second)
	if release, ok = second.Hold(t.Context(), "task"); !ok {
		t.Fatal("nobody has it any more, and it is not given")
	}
	release()
}

// TestHoldIsRenewed: a name is held as long as nobody lets go of it, however long that takes.
func TestHoldIsRenewed(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	var first *SharedHolds
	_, b := pair(t, m, func(a, _ *Shared) { first = a.Holds(NewLocalHolds()) })
	second := b.Holds(NewLocalHolds())
	release, ok := first.Hold(t.Context(), "task")
	if !ok {
		t.Fatal("nobody has it")
	}
	key := b.name("hold", digest("task"))
	for range 3 {
		m.FastForward(holdLease - time.Millisecond)
		eventually(t, "it is held for longer", func() bool { return m.TTL(key) > holdLease/2 })
		if _, ok := second.Hold(t.Context(), "task"); ok {
			t.Error("two have it")
		}
	}
	release()
	if release, ok = second.Hold(t.Context(), "task"); !ok {
		t.Fatal("it was not released")
	}
	release()
}
