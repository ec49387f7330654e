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

// forget takes back that an id was used.
func (o *LocalOnce) forget(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if old, ok := o.used[id]; ok {
		o.remove(id, old)
	}
}

// SharedOnce is [Once] for all replicas.
type SharedOnce struct {
	s      *Shared
	local  *LocalOnce
	closed bool
}

// Once returns what replicas remember together. While Redis is away each of them remembers by itself, in local; with closed there is an
// error then, and nothing was used up: who comes again to the same replica, when Redis is back, is the first.
func (s *Shared) Once(local *LocalOnce, closed bool) *SharedOnce {
	return &SharedOnce{s: s, local: local, closed: closed}
}

// Spend implements [Once].
func (o *SharedOnce) Spend(ctx context.Context, owner, id string, until time.Time) (bool, error) {
	until = until.Add(clocksApart)
	first, err := o.local.Spend(ctx, owner, id, until)
	if err != nil || !first {
		return false, err
	}
	first, err = o.s.first(ctx, useOnce, "once", id, until, o.closed)
	if errors.Is(err, ErrAway) {
		o.local.forget(id)
	}
	return first, err
}

// first enters a name in Redis, and tells whether it was not there. Without Redis it was not, or, closed, nobody knows: [ErrAway]. Who
// hears that takes back what he remembers of it. Redis may have done it all the same, so that a replica that comes again and finds its
// own word there is the first.
func (s *Shared) first(ctx context.Context, u use, kind, id string, until time.Time, closed bool) (bool, error) {
	name, who := s.name(kind, digest(id)), ""
	err := s.do(ctx, u, func(ctx context.Context, c *redis.Client) error {
		err := c.SetArgs(ctx, name, s.id, redis.SetArgs{Mode: "NX", TTL: max(until.Sub(s.o.Now()), time.Millisecond)}).Err()
		if closed && errors.Is(err, redis.Nil) {
			who, err = c.GetRange(ctx, name, 0, int64(len(s.id))).Result() // whatever is there, it is not read beyond
		} else if err == nil {
			who = s.id
		}
		return err
	})
	switch {
	case err == nil:
		return who == s.id, nil
	case errors.Is(err, redis.Nil):
		return false, nil
	case ctx.Err() != nil: // who has left must not have it accepted for that, whatever becomes of what he began
		return false, ctx.Err()
	case closed && !s.alone():
		return false, ErrAway
	}
	return true, nil
}

// replayCache is what remembers, in one process, proofs of possession that were used.
type replayCache interface {
	// Seen is that of auth.ReplayCache.
	Seen(ctx context.Context, owner string, id [sha256.Size]byte, until time.Time) (bool, error)
	// Forget takes back that an id was seen.
	Forget(id [sha256.Size]byte)
}

// SharedReplays is the auth.ReplayCache of all replicas.
type SharedReplays struct {
	s      *Shared
	local  replayCache
	closed bool
}

// Replays returns what replicas remember of proofs together. While Redis is away each of them relies on what it has seen by itself, in
// local, and on the time in the proof; with closed there is an error then, as of [Shared.Once].
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
	if errors.Is(err, ErrAway) {
		r.local.Forget(id)
	}
	return !first && err == nil, err
}
