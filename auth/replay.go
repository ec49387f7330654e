package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// ReplayCache remembers DPoP proofs that were used (RFC 9449 section 11.1).
// Replicas behind one address need one that they share.
type ReplayCache interface {
	// Seen records an id until a time, which is two minutes away at most, and
	// reports whether it was recorded before, in one step: of two callers with the
	// same id one gets false. It is safe for concurrent use. After an error the
	// request is answered with 503, so an implementation that would rather rely on
	// the time in the proof returns false and no error.
	Seen(ctx context.Context, id [sha256.Size]byte, until time.Time) (bool, error)
}

const (
	maxReplays  = 320_000
	replayShard = maxReplays / cacheShards
	replaySweep = 10 * time.Second
)

// ReplayMemory is the [ReplayCache] of a gateway that runs once. It holds
// 320,000 proofs, some 2,600 requests a second; beyond that it says that it
// can't tell, and forgets nothing that still counts.
type ReplayMemory struct {
	now    func() time.Time
	shards [cacheShards]replaySet
}

type replaySet struct {
	mu    sync.Mutex
	ids   map[[16]byte]int64 // the first half of an id → until, Unix time in ns
	swept time.Time
}

// NewReplayMemory returns an empty one. The clock may be nil: time.Now.
func NewReplayMemory(now func() time.Time) *ReplayMemory {
	if now == nil {
		now = time.Now
	}
	return &ReplayMemory{now: now}
}

// Seen implements [ReplayCache].
func (m *ReplayMemory) Seen(_ context.Context, id [sha256.Size]byte, until time.Time) (bool, error) {
	now := m.now()
	s := &m.shards[id[31]%cacheShards]
	short := [16]byte(id[:16])
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.ids[short]; ok && now.UnixNano() < old {
		return true, nil
	}
	if s.ids == nil {
		s.ids = make(map[[16]byte]int64)
	}
	if now.Sub(s.swept) >= replaySweep {
		s.swept = now
		for k, old := range s.ids {
			if now.UnixNano() >= old {
				delete(s.ids, k)
			}
		}
	}
	if len(s.ids) >= replayShard {
		return false, errors.New("too many proofs to remember")
	}
	s.ids[short] = until.UnixNano()
	return false, nil
}
