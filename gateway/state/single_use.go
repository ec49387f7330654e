package state

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Once tracks ids that may be used one time. It is safe for concurrent use, and callers need not
// retry.
type Once interface {
	// Spend uses an id, a short text that can't be guessed, and reports whether this was the first
	// use; it is remembered until the given time. owner is the principal that the id belongs to,
	// and must not be able to exhaust the capacity that others need. An error means that the answer
	// is unknown.
	Spend(ctx context.Context, owner, id string, until time.Time) (first bool, err error)
}

const (
	// maxOnce limits the ids that a process remembers.
	maxOnce = 1 << 16
	// Once half of the capacity is used, each owner is limited to a share of it: one alone can use
	// half, and it takes five to exhaust the rest.
	onceHalf  = maxOnce / 2
	onceShare = maxOnce / 8
	// onceSweep is the minimum time between two removals of expired ids when the capacity is
	// reached.
	onceSweep = time.Second
)

// LocalOnce implements [Once] in the memory of one process. It holds 65,536 ids, and evicts none
// before it expires; beyond that it returns an error. One owner can use at most half of the
// capacity, and an eighth once others use the rest of that half.
type LocalOnce struct {
	now func() time.Time

	mu     sync.Mutex
	used   map[string]usedID
	owners map[string]int // number of ids by owner
	swept  time.Time
}

// usedID is the owner and expiry of an id.
type usedID struct {
	owner string
	until time.Time
}

// NewLocalOnce returns an empty LocalOnce. now is the clock, time.Now if nil.
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
	if !o.hasRoom(owner) && now.Sub(o.swept) >= onceSweep {
		o.swept = now
		for other, old := range o.used {
			if !now.Before(old.until) {
				o.remove(other, old)
			}
		}
	}
	if !o.hasRoom(owner) {
		return false, errors.New("too much was used up to remember all of it")
	}
	o.used[id] = usedID{owner, until}
	o.owners[owner]++
	return true, nil
}

// hasRoom reports whether an owner may have one more. The caller holds the mutex.
func (o *LocalOnce) hasRoom(owner string) bool {
	return len(o.used) < onceHalf || len(o.used) < maxOnce && o.owners[owner] < onceShare
}

// remove removes an id. The caller holds the mutex.
func (o *LocalOnce) remove(id string, old usedID) {
	delete(o.used, id)
	if o.owners[old.owner]--; o.owners[old.owner] == 0 {
		delete(o.owners, old.owner)
	}
}

// forget undoes the use of an id.
func (o *LocalOnce) forget(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if old, ok := o.used[id]; ok {
		o.remove(id, old)
	}
}

// SharedOnce implements [Once] for all replicas.
type SharedOnce struct {
	s      *Shared
	local  *LocalOnce
	closed bool
}

// Once returns a Once that replicas share. While Redis is unavailable each replica uses local
// alone; if closed is set, Spend returns an error instead and the id is not used up, so that a
// retry at the same replica succeeds when Redis is available again.
func (s *Shared) Once(local *LocalOnce, closed bool) *SharedOnce {
	return &SharedOnce{s: s, local: local, closed: closed}
}

// Spend implements [Once].
func (o *SharedOnce) Spend(ctx context.Context, owner, id string, until time.Time) (bool, error) {
	until = until.Add(maxClockSkew)
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

// first stores a name in Redis, and reports whether it was not there. Without Redis it returns true
// or, if closed is set, [ErrAway]; the caller then undoes its local record. Redis may have stored
// the name all the same, so a replica that retries and finds its own id there is the first.
func (s *Shared) first(ctx context.Context, u use, kind, id string, until time.Time, closed bool) (bool, error) {
	name, who := s.name(kind, digest(id)), ""
	err := s.do(ctx, u, func(ctx context.Context, c *redis.Client) error {
		err := c.SetArgs(ctx, name, s.id, redis.SetArgs{Mode: "NX", TTL: max(until.Sub(s.o.Now()), time.Millisecond)}).Err()
		if closed && errors.Is(err, redis.Nil) {
			who, err = c.GetRange(ctx, name, 0, int64(len(s.id))).Result() // never read more, whatever is stored
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
	case ctx.Err() != nil: // an abandoned request must not be accepted, whatever became of it
		return false, ctx.Err()
	case closed && !s.alone():
		return false, ErrAway
	}
	return true, nil
}
