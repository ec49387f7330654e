package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Once remembers what may be used one time. It is safe for concurrent use, and nobody needs to retry.
type Once interface {
	// Spend uses an id, a short text that can't be guessed, and tells whether it was the first to do so; it is remembered until the
	// given time. owner is whose it is, who must not be able to use up the room of others. An error says that nobody knows.
	Spend(ctx context.Context, owner, id string, until time.Time) (first bool, err error)
}

const (
	// maxOnce bounds what a process remembers by itself.
	maxOnce = 1 << 16
	// Once half of the room is taken, an owner has no more of it than a share: one alone can have half, and it takes five to fill it.
	onceHalf  = maxOnce / 2
	onceShare = maxOnce / 8
	// onceSweep is how often it is looked for what has ended, when there is no room.
	onceSweep = time.Second
)

// LocalOnce is [Once] in the memory of one process. It holds 65,536 ids, and forgets none before its time: with more it can't
// tell. One owner has half of it at most, and an eighth once others have the rest of that half.
type LocalOnce struct {
	now func() time.Time

	mu     sync.Mutex
	used   map[string]usedID
	owners map[string]int // how many of them are theirs
	swept  time.Time
}

// usedID is whose it is, and until when.
type usedID struct {
	owner string
	until time.Time
}

// NewLocalOnce makes one that knows of nothing. now is the clock; nil: time.Now.
func NewLocalOnce(now func() time.Time) *LocalOnce {
	if now == nil {
		now = time.Now
	}
	return &LocalOnce{now: now, used: make(map[string]usedID), owners: make(map[string]int)}
}

// Spend implements [Once].
func (o *LocalOnce) Spend(_ context.Context, owner, id string, until time.Time) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.now()
	if old, again := o.used[id]; again {
		if now.Before(old.until) {
			return false, nil
		}
		o.remove(id, old)
	}
	if !o.room(owner) && now.Sub(o.swept) >= onceSweep {
		o.swept = now
		for other, old := range o.used {
			if !now.Before(old.until) {
				o.remove(other, old)
			}
		}
	}
	if !o.room(owner) {
		return false, errors.New("too much was used up to remember all of it")
	}
	o.used[id] = usedID{owner, until}
	o.owners[owner]++
	return true, nil
}

// room tells whether an owner may have one more. The mutex is held.
func (o *LocalOnce) room(owner string) bool {
	return len(o.used) < onceHalf || len(o.used) < maxOnce && o.owners[owner] < onceShare
}

// remove forgets an id. The mutex is held.
func (o *LocalOnce) remove(id string, old usedID) {
	delete(o.used, id)
	if o.owners[old.owner]--; o.owners[old.owner] == 0 {
		delete(o.owners, old.owner)
	}
}

// SharedOnce is [Once] for all replicas.
type SharedOnce struct {
	s      *Shared
	local  Once
	closed bool
}

// Once returns what replicas remember together. While Redis is away each of them remembers by itself, in local; with closed there is an
// error then.
func (s *Shared) Once(local Once, closed bool) *SharedOnce {
	return &SharedOnce{s: s, local: local, closed: closed}
}

// Spend implements [Once].
func (o *SharedOnce) Spend(ctx context.Context, owner, id string, until time.Time) (bool, error) {
	until = until.Add(clocksApart)
	first, err := o.local.Spend(ctx, owner, id, until)
	if err != nil || !first {
		return false, err
	}
	return o.s.first(ctx, useOnce, "once", id, until, o.closed)
}

// first enters a name in Redis, and tells whether it was not there. Without Redis it was not, or, closed, nobody knows.
func (s *Shared) first(ctx context.Context, u use, kind, id string, until time.Time, closed bool) (bool, error) {
	first := true
	err := s.do(ctx, u, func(ctx context.Context, c *redis.Client) error {
		return c.SetArgs(ctx, s.name(kind, digest(id)), "1", redis.SetArgs{Mode: "NX", TTL: max(until.Sub(s.o.Now()), time.Millisecond)}).Err()
	})
	switch {
	case errors.Is(err, redis.Nil):
		first = false
	case ctx.Err() != nil: // who has left must not have it accepted for that, whatever becomes of what he began
		return false, ctx.Err()
	case err != nil && closed && !s.alone():
		return false, ErrAway
	}
	return first, nil
}

// replayCache is auth.ReplayCache: what remembers proofs of possession that were used.
type replayCache interface {
	Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error)
}

// SharedReplays remembers proofs of possession for all replicas.
type SharedReplays struct {
	s      *Shared
	local  replayCache
	closed bool
}

// Replays returns what replicas remember of proofs together. While Redis is away each of them relies on what it has seen by itself, in
// local, and on the time in the proof; with closed there is an error then.
func (s *Shared) Replays(local replayCache, closed bool) *SharedReplays {
	return &SharedReplays{s: s, local: local, closed: closed}
}

// Seen records an id of an owner until a time and reports whether it was recorded before.
func (r *SharedReplays) Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error) {
	until = until.Add(clocksApart)
	seen, err := r.local.Seen(ctx, owner, id, until)
	if err != nil || seen {
		return seen, err
	}
	first, err := r.s.first(ctx, useReplays, "proof", string(id[:]), until, r.closed)
	return !first && err == nil, err
}
