package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"
)

// ReplayCache tracks used DPoP proofs (RFC 9449 section 11.1). It is safe for concurrent use.
type ReplayCache interface {
	// Seen records an id of an owner until a time and reports whether it was recorded before. An
	// error means that the answer is unknown.
	Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error)
}

// LocalReplays is a [ReplayCache] in the memory of one process whose entries can be undone.
type LocalReplays interface {
	ReplayCache
	// Forget removes an id.
	Forget(id [sha256.Size]byte)
}

// SharedReplays implements [ReplayCache] for all replicas.
type SharedReplays struct {
	s      *Shared
	local  LocalReplays
	closed bool
}

// Replays returns a replay cache that replicas share. While Redis is unavailable each replica
// relies on local and on the time in the proof; if closed is set, Seen returns an error instead,
// like [Shared.Once].
func (s *Shared) Replays(local LocalReplays, closed bool) *SharedReplays {
	return &SharedReplays{s: s, local: local, closed: closed}
}

// Seen implements [ReplayCache].
func (r *SharedReplays) Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error) {
	until = until.Add(maxClockSkew)
	seen, err := r.local.Seen(ctx, owner, id, until)
	if err != nil || seen {
		return seen, err
	}
	first, err := r.s.first(ctx, useReplays, "proof", string(id[:]), until, r.closed)
	if errors.Is(err, ErrAway) {
		r.local.Forget(id)
	}
	return !first && err == nil, err
}
