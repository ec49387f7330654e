package state

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/auth"
)

// TestClocksApart: what was used or ended at a replica whose clock is ahead is so at one whose clock is behind for as long as that one
// would take it.
func TestClocksApart(t *testing.T) {
	t.Parallel()
	const ahead, left = 30 * time.Second, 61 * time.Second
	for _, c := range []struct {
		name   string
		passed time.Duration
		gone   bool
	}{
		{"the first has forgotten it", 35 * time.Second, false},
		{"the second would take it no more", left, false},
		{"nobody would for a minute", left + maxClockSkew, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			a, b := newShared(t, m.Addr(), nil, nil), newShared(t, m.Addr(), nil, nil)
			a.o.Now = func() time.Time { return time.Now().Add(ahead) }
			ended, ends := a.Tombstones(NewTombstones(0, a.o.Now)), b.Tombstones(NewTombstones(0, nil))
			begin(t, a)
			eventually(t, "Redis is reached", func() bool { return a.Status().Up })
			until := time.Now().Add(left)
			id := sha256.Sum256([]byte("proof"))
			if seen, err := a.Replays(auth.NewReplayMemory(a.o.Now), false).Seen(t.Context(), "alice", id, until); seen || err != nil {
				t.Fatalf("the first to use a proof: %v %v", seen, err)
			}
			if first, err := a.Once(NewLocalOnce(a.o.Now), false).Spend(t.Context(), "alice", "id", until); !first || err != nil {
				t.Fatalf("the first to use an answer: %v %v", first, err)
			}
			_ = ended.Revoke(t.Context(), "alice", "session", until)
			begin(t, b) // it has heard nothing of it
			eventually(t, "Redis is reached", func() bool { return b.Status().Up })
			m.FastForward(c.passed)
			if seen, err := b.Replays(auth.NewReplayMemory(nil), false).Seen(t.Context(), "alice", id, until); seen == c.gone || err != nil {
				t.Errorf("a proof: %v %v", seen, err)
			}
			if first, err := b.Once(NewLocalOnce(nil), false).Spend(t.Context(), "alice", "id", until); first != c.gone || err != nil {
				t.Errorf("an answer: %v %v", first, err)
			}
			if revoked := ends.Revoked(t.Context(), "session"); revoked == c.gone {
				t.Errorf("a session: %v", revoked)
			}
		})
	}
}
