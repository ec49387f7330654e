package state

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"drawbridge/test/timebox"
)

// TestTombstones: a name is revoked until its time, and forgotten after it.
func TestTombstones(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := NewTombstones(0, func() time.Time { return now })
	revoke := func(name string, d time.Duration) {
		if err := s.Revoke(t.Context(), "alice", name, now.Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(name string, want bool) {
		t.Helper()
		if got := s.Revoked(t.Context(), name); got != want {
			t.Errorf("at %v: %q revoked: %v", now.Unix(), name, got)
		}
	}
	expect("a", false)
	revoke("a", time.Minute)
	revoke("b", time.Hour)
	revoke("b", time.Minute) // the later time stays
	revoke("over", 0)
	expect("a", true)
	expect("over", false)
	now = now.Add(time.Minute - 1)
	expect("a", true)
	now = now.Add(1)
	expect("a", false)
	expect("b", true)
	if s.Len() != 1 {
		t.Errorf("%d names held, 1 is alive", s.Len())
	}
}

// TestTombstonesOfOthers: however many sessions a caller ends, those that others have ended stay ended. (pains row 110)
func TestTombstonesOfOthers(t *testing.T) {
	t.Parallel()
	for name, owner := range map[string]string{"with a token": "mallory", "without": ""} {
		s := NewTombstones(64, nil)
		until := time.Now().Add(time.Hour)
		for i := range 4 {
			_ = s.Revoke(t.Context(), "alice", fmt.Sprint("alice ", i), until)
		}
		for i := range 1000 {
			_ = s.Revoke(t.Context(), owner, fmt.Sprint("other ", i), until)
		}
		for i := range 4 {
			if !s.Revoked(t.Context(), fmt.Sprint("alice ", i)) {
				t.Errorf("a caller %s has another's tombstone forgotten", name)
			}
		}
		if !s.Revoked(t.Context(), "other 999") || s.Revoked(t.Context(), "other 0") || s.Len() > 64 {
			t.Errorf("a caller %s: %d names, not the last of its own", name, s.Len())
		}
	}
}

// TestTombstonesAreBounded: however many names come, the store keeps its size and
// forgets first what nobody asks for.
func TestTombstonesAreBounded(t *testing.T) {
	t.Parallel()
	s := NewTombstones(3, nil)
	until := time.Now().Add(time.Hour)
	for i := range 1000 {
		if err := s.Revoke(t.Context(), "", fmt.Sprint(i), until); err != nil {
			t.Fatal(err)
		}
		if !s.Revoked(t.Context(), "0") {
			t.Fatalf("forgot a name in use after %d others", i)
		}
	}
	if s.Len() != 3 {
		t.Errorf("%d names held", s.Len())
	}
	if s.Revoked(t.Context(), "997") || !s.Revoked(t.Context(), "999") {
		t.Error("forgot the wrong names")
	}
}

// TestTombstonesConcurrently is for the race detector.
func TestTombstonesConcurrently(t *testing.T) {
	t.Parallel()
	s := NewTombstones(10, nil)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				name := fmt.Sprint(i * g % 40)
				_ = s.Revoke(t.Context(), "alice", name, time.Now().Add(time.Hour))
				s.Revoked(t.Context(), name)
			}
		})
	}
	timebox.Done(t, wg.Wait)
	if s.Len() > 10 {
		t.Errorf("%d names held", s.Len())
	}
}
