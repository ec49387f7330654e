package state

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"drawbridge/auth"
)

// spender uses one id at a replica, as an answer of the user or as a proof.
type spender func(s *Shared, id string) (first bool, err error)

// spenders are those that remember for themselves, each replica in its own store, with closed.
func spenders(t *testing.T, until time.Time) map[string]spender {
	once, replays := map[*Shared]*SharedOnce{}, map[*Shared]*SharedReplays{}
	return map[string]spender{
		"answer": func(s *Shared, id string) (bool, error) {
			if once[s] == nil {
				once[s] = s.Once(NewLocalOnce(nil), true)
			}
			return once[s].Spend(t.Context(), "alice", id, until)
		},
		"proof": func(s *Shared, id string) (bool, error) {
			if replays[s] == nil {
				replays[s] = s.Replays(auth.NewReplayMemory(nil), true)
			}
			seen, err := replays[s].Seen(t.Context(), "alice", sha256.Sum256([]byte(id)), until)
			return !seen && err == nil, err
		},
	}
}

// TestNothingIsUsedUpByAnError: what could not be used, since Redis was away, is good when it is back.
func TestNothingIsUsedUpByAnError(t *testing.T) {
	t.Parallel()
	for name, spend := range spenders(t, time.Now().Add(time.Minute)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			a, b := pair(t, m, nil)
			m.Close()
			for range 2 {
				if first, err := spend(a, "id"); first || !errors.Is(err, ErrAway) {
					t.Errorf("without Redis: %v %v", first, err)
				}
			}
			if err := m.Restart(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it is reached again", func() bool { return a.Status().Up && b.Status().Up })
			for i, s := range []*Shared{a, a, b} {
				if first, err := spend(s, "id"); first != (i == 0) || err != nil {
					t.Errorf("%d: %v %v", i, first, err)
				}
			}
		})
	}
}

// TestOwnWordIsFoundAgain: a replica whose answer from Redis was lost, though it had done what it was asked for, finds its own word there, and no
// other takes it for its own.
func TestOwnWordIsFoundAgain(t *testing.T) {
	t.Parallel()
	for name, spend := range spenders(t, time.Now().Add(time.Minute)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			a, b := pair(t, m, nil)
			var lost atomic.Bool
			m.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
				if command != "SET" || lost.Swap(true) {
					return false
				}
				_ = m.Set(args[0], args[1])
				c.Close()
				return true
			})
			if first, err := spend(a, "id"); first || !errors.Is(err, ErrAway) {
				t.Errorf("its answer is lost: %v %v", first, err)
			}
			eventually(t, "it is reached again", func() bool { return a.Status().Up })
			for i, s := range []*Shared{b, a, a, b} {
				if first, err := spend(s, "id"); first != (i == 1) || err != nil {
					t.Errorf("%d: %v %v", i, first, err)
				}
			}
		})
	}
}

// TestOnceOfOne: who uses up more than his share leaves room to others, and it is not looked for what has ended at each attempt.
func TestOnceOfOne(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	o := NewLocalOnce(func() time.Time { return now })
	n := 0
	spend := func(owner string) error {
		n++
		first, err := o.Spend(t.Context(), owner, fmt.Sprint(n), now.Add(time.Minute))
		if first != (err == nil) {
			t.Fatalf("%d: %v %v", n, first, err)
		}
		return err
	}
	most := func(owner string) (used int) {
		for spend(owner) == nil {
			used++
		}
		return used
	}
	if used := most("greedy"); used != maxOnce/2 {
		t.Errorf("one uses %d alone", used)
	}
	for i := range 4 {
		if used := most(fmt.Sprint("other", i)); used != maxOnce/8 {
			t.Errorf("another uses %d", used)
		}
	}
	if spend("late") == nil {
		t.Error("it remembers more than it can")
	}
	now = now.Add(time.Minute)
	swept := o.swept
	if err := spend("late"); err != nil || o.swept == swept || len(o.used) != 1 || len(o.owners) != 1 {
		t.Errorf("after their time: %v, %d are remembered of %d", err, len(o.used), len(o.owners))
	}
	for range maxOnce / 2 {
		_ = spend("late")
	}
	swept = o.swept
	now = now.Add(onceSweep - 1)
	if err := spend("late"); err == nil || o.swept != swept {
		t.Errorf("it is looked again at once: %v", err)
	}
	now = now.Add(1)
	if err := spend("late"); err == nil || o.swept == swept {
		t.Errorf("it is not looked again: %v", err)
	}
}
