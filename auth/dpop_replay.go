package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"sync"
	"time"
)

// ReplayCache remembers used DPoP proofs (RFC 9449 section 11.1). Replicas behind one address need
// a shared one.
type ReplayCache interface {
	// Seen atomically records an id until a time, at most two minutes away, and reports whether it
	// was recorded before: of two callers with the same id one gets false. owner is the principal
	// that sent the proof, and must not be able to exhaust the capacity that others need. Seen is
	// safe for concurrent use. After an error the request is answered with 503, or with 429 if it
	// is [ErrManyProofs]; an implementation that prefers to rely on the time in the proof returns
	// false and no error.
	Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error)
}

// ErrManyProofs is returned when a principal has used more proofs than can be remembered per
// principal.
var ErrManyProofs = errors.New("too many proofs of one principal to remember")

const (
	maxReplays  = 320_000
	replayShard = maxReplays / cacheShards
	replaySweep = 10 * time.Second
	// Once half of the capacity is used, each principal is limited to a share of it: one alone can
	// use half, and it takes five to exhaust the rest.
	replaySoftLimit = replayShard / 2
	replayShare     = replayShard / 8
)

// ReplayMemory is the [ReplayCache] of a gateway without replicas. It holds 320,000 proofs, about
// 2,600 requests a second; beyond that it returns an error, and never evicts a proof that is still
// valid. One principal can use at most half of it, and an eighth once others use the rest of that
// half.
type ReplayMemory struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [cacheShards]replaySet
}

type replaySet struct {
	mu     sync.Mutex
	ids    map[[16]byte]seenProof // keyed by the first half of an id
	owners map[uint64]int         // number of ids by owner
	swept  time.Time
}

// seenProof is a used proof.
type seenProof struct {
	until int64  // Unix time in ns
	owner uint64 // hash of the principal's name
}

// NewReplayMemory returns an empty ReplayMemory. The clock is time.Now if nil.
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
	case len(s.ids) >= replaySoftLimit && s.owners[whose] >= replayShare:
		return false, ErrManyProofs
	}
	s.ids[short] = seenProof{until.UnixNano(), whose}
	s.owners[whose]++
	return false, nil
}

// Forget removes an id, for a caller that rejected the proof for another reason.
func (m *ReplayMemory) Forget(id [sha256.Size]byte) {
	s := &m.shards[id[31]%cacheShards]
	short := [16]byte(id[:16])
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.ids[short]; ok {
		s.forget(short, p)
	}
}

// forget removes a proof. The caller holds the mutex.
func (s *replaySet) forget(id [16]byte, p seenProof) {
	delete(s.ids, id)
	if s.owners[p.owner]--; s.owners[p.owner] == 0 {
		delete(s.owners, p.owner)
	}
}
