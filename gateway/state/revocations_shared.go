package state

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// topicEnds is the topic of new tombstones: expiry and name.
	topicEnds = "ends"
	// maxAsked limits the names that are cached as having no tombstone.
	maxAsked = 1 << 16
	// askedLife is the lifetime of such a cache entry, which limits the damage of a lost message.
	askedLife = time.Minute
	// maxTombstone is the lifetime of a tombstone without expiry in Redis, which no replica writes.
	maxTombstone = 24 * time.Hour
	// endsPerOwner and endsInAll limit the bytes that this process has in Redis, per owner and in
	// total: the ends of 8,738 sessions and of 279,620. Those beyond are sent to the running
	// replicas, and not stored.
	endsPerOwner = 1 << 20
	endsInAll    = 32 << 20
)

// SharedTombstones are tombstones that replicas share. Redis is asked for a name once a minute; in
// between other replicas announce new tombstones, as long as the subscription is uninterrupted.
// Tombstones from an outage are found after it. It is safe for concurrent use.
type SharedTombstones struct {
	s         *Shared
	local     *Tombstones
	quota     *quota
	onRevoked func(name string)

	mu    sync.Mutex
	asked map[string]askedName
	// pending are the tombstones that Redis does not have.
	pending map[string]pendingEnd
}

// pendingEnd is the owner and expiry of a tombstone.
type pendingEnd struct {
	owner string
	until time.Time
}

// askedName is a name without tombstone: the epoch of the bus in which it was asked for, and when.
type askedName struct {
	epoch int64
	at    time.Time
}

// Tombstones returns tombstones that replicas share. It must be called before [Shared.Run], and for
// one caller. While Redis is unavailable each replica knows its own, in local, and those that it
// has received.
func (s *Shared) Tombstones(local *Tombstones) *SharedTombstones {
	t := &SharedTombstones{s: s, local: local, onRevoked: func(string) {}, quota: newQuota(endsInAll, endsPerOwner, s.o.Now), asked: make(map[string]askedName), pending: make(map[string]pendingEnd)}
	s.bus.Subscribe(topicEnds, t.onMessage)
	s.periodic = append(s.periodic, t.publishPending)
	return t
}

// OnRevoked registers f to be called with each name revoked by another replica, at least once. It
// must be called before [Shared.Run], and f should not block.
func (t *SharedTombstones) OnRevoked(f func(name string)) { t.onRevoked = f }

// onMessage handles a tombstone of another replica.
func (t *SharedTombstones) onMessage(message []byte) {
	if len(message) > 8 {
		until := time.UnixMilli(int64(binary.BigEndian.Uint64(message))) // written by publish
		_ = t.local.Revoke(context.Background(), "", string(message[8:]), until)
		t.onRevoked(string(message[8:]))
	}
}

// Revoke remembers a name of an owner until the given time, here and, if Redis is available,
// everywhere. It does not observe the cancellation of ctx, because a client that ends a session
// often leaves at once. The error is always nil.
func (t *SharedTombstones) Revoke(ctx context.Context, owner, name string, until time.Time) error {
	ctx = context.WithoutCancel(ctx)
	_ = t.local.Revoke(ctx, owner, name, until)
	if t.publish(ctx, owner, name, until) != nil && !t.s.alone() {
		t.mu.Lock()
		if len(t.pending) < maxPending {
			t.pending[name] = pendingEnd{owner, until}
		}
		t.mu.Unlock()
	}
	return nil
}

// publish stores a tombstone in Redis and sends it to the running replicas. The error is that of
// Redis.
func (t *SharedTombstones) publish(ctx context.Context, owner, name string, until time.Time) (err error) {
	kept := until.Add(maxClockSkew)
	life := kept.Sub(t.s.o.Now())
	if life <= 0 {
		return nil
	}
	if key := t.s.name("end", digest(name)); t.quota.reserve(key, owner, 1, kept) {
		err = t.s.do(ctx, useSessions, func(ctx context.Context, c *redis.Client) error { // do has counted a loss
			return c.Set(ctx, key, "1", max(life, time.Millisecond)).Err()
		})
		if err != nil {
			t.quota.drop(key)
		}
	}
	t.s.bus.Publish(ctx, topicEnds, append(binary.BigEndian.AppendUint64(nil, uint64(until.UnixMilli())), name...)) //nolint:gosec // after 1970
	return err
}

// publishPending publishes the tombstones that could not be published.
func (t *SharedTombstones) publishPending(ctx context.Context) {
	t.mu.Lock()
	waiting := maps.Clone(t.pending)
	t.mu.Unlock()
	for name, end := range waiting {
		if t.publish(ctx, end.owner, name, end.until) != nil {
			return // the rest waits, too
		}
		t.mu.Lock()
		delete(t.pending, name)
		t.mu.Unlock()
	}
}

// Revoked reports whether a name was revoked and has not expired.
func (t *SharedTombstones) Revoked(ctx context.Context, name string) bool {
	if t.local.Revoked(ctx, name) {
		return true
	}
	epoch, listens := t.s.bus.subscription()
	if listens && t.isCached(name, epoch) {
		return false
	}
	var left time.Duration
	err := t.s.do(ctx, useSessions, func(ctx context.Context, c *redis.Client) (err error) {
		left, err = c.PTTL(ctx, t.s.name("end", digest(name))).Result()
		return err
	})
	switch {
	case err != nil && !errors.Is(err, redis.Nil):
		return false // not revoked, as far as this replica knows
	case left == -2: // there is no such key
		if listens {
			t.cache(name, epoch)
		}
		return false
	case left <= 0 || left > maxTombstone:
		left = maxTombstone
	}
	_ = t.local.Revoke(ctx, "", name, t.s.o.Now().Add(left))
	return true
}

func (t *SharedTombstones) isCached(name string, epoch int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	then, ok := t.asked[name]
	return ok && then.epoch == epoch && t.s.o.Now().Sub(then.at) < askedLife
}

func (t *SharedTombstones) cache(name string, epoch int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, again := t.asked[name]; !again && len(t.asked) >= maxAsked {
		for other := range t.asked { // any of them: it is asked for again
			delete(t.asked, other)
			break
		}
	}
	t.asked[name] = askedName{epoch, t.s.o.Now()}
}
