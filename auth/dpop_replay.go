package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"sync"
	"time"
)

// ReplayCache remembers DPoP proofs that were used (RFC 9449 section 11.1).
// Replicas behind one address need one that they share.
type ReplayCache interface {
	// Seen records an id until a time, which is two minutes away at most, and
	// reports whether it was recorded before, in one step: of two callers with the
	// same id one gets false. owner is the principal whose proof it is, who must not
	// be able to use up what others need. It is safe for concurrent use. After an
	// error the request is answered with 503, or, if it is [ErrManyProofs], with 429,
	// so an implementation that would rather rely on the time in the proof returns
	// false and no error.
	Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error)
}

// ErrManyProofs tells that a principal has used more proofs than can be remembered
// for one.
var ErrManyProofs = errors.New("too many proofs of one principal to remember")

const (
	maxReplays  = 320_000
	replayShard = maxReplays / cacheShards
	replaySweep = 10 * time.Second
	// Once half of the room is taken, a principal has no more of it than a share: one
	// alone can have half, and it takes five to fill it for the others.
	replayHalf  = replayShard / 2
	replayShare = replayShard / 8
)

// ReplayMemory is the [ReplayCache] of a gateway that runs once. It holds
// 320,000 proofs, some 2,600 requests a second; beyond that it says that it
// can't tell, and forgets nothing that still counts. One principal has half of
// it at most, and an eighth once others have the rest of that half.
type ReplayMemory struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [cacheShards]replaySet
}

type replaySet struct {
	mu     sync.Mutex
	ids    map[[16]byte]seenProof // by the first half of an id
	owners map[uint64]int         // how many of the ids are theirs
	swept  time.Time
}

// seenProof is a proof that was used.
type seenProof struct {
	until int64  // Unix time in ns
	owner uint64 // digest of the principal's name
}

// NewReplayMemory returns an empty one. The clock may be nil: time.Now.
func NewReplayMemory(now func() time.Time) *ReplayMemory {
	if now == nil {
		now = time.Now
	}
	return &ReplayMemory{now: now, seed: maphash.MakeSeed()}
}

// Seen implements [ReplayCache].
func (m *ReplayMemory) Seen(_ context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error) {
	now := m.now()
	s := &m.shards[id[31]%cacheShards]
	short, whose := [16]byte(id[:16]), maphash.String(m.seed, owner)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.ids[short]; ok {
		if now.UnixNano() < old.until {
			return true, nil
		}
		s.forget(short, old)
	}
	if s.ids == nil {
		s.ids, s.owners = make(map[[16]byte]seenProof), make(map[uint64]int)
	}
	if now.Sub(s.swept) >= replaySweep {
		s.swept = now
		for k, old := range s.ids {
			if now.UnixNano() >= old.until {
				s.forget(k, old)
			}
		}
	}
	switch {
	case len(s.ids) >= replayShard:
		return false, errors.New("too many proofs to remember")
	case len(s.ids) >= replayHalf && s.owners[whose] >= replayShare:
		return false, ErrManyProofs
	}
	s.ids[short] = seenProof{until.UnixNano(), whose}
	s.owners[whose]++
	return false, nil
}

// Forget takes back that an id was seen, for who has refused the proof for another reason.
func (m *ReplayMemory) Forget(id [sha256.Size]byte) {
	s := &m.shards[id[31]%cacheShards]
	short := [16]byte(id[:16])
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.ids[short]; ok {
		s.forget(short, p)
	}
}

// forget forgets a proof. The mutex is held.
func (s *replaySet) forget(id [16]byte, p seenProof) {
	delete(s.ids, id)
	if s.owners[p.owner]--; s.owners[p.owner] == 0 {
		delete(s.owners, p.owner)
	}
}
