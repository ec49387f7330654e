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
	// topicEnds is what replicas tell each other of tombstones: when it ends, and its name.
	topicEnds = "ends"
	// maxAsked bounds the names that are known to have had no tombstone.
	maxAsked = 1 << 16
	// askedLife is for how long nobody asks again: a message that was lost without a break in listening costs no more.
	askedLife = time.Minute
	// maxTombstone is how long a tombstone counts that has no time in Redis, as ours always have.
	maxTombstone = 24 * time.Hour
	// endsPerOwner and endsInAll bound the bytes that this process has in Redis of one owner, and of all: the ends of 8,738 sessions and of
	// 279,620. Those beyond are told to the replicas that run, and not kept for others.
	endsPerOwner = 1 << 20
	endsInAll    = 32 << 20
)

// SharedTombstones are tombstones that all replicas know. Redis is asked for a name once a minute: in between other replicas tell of new
// tombstones, for as long as they can be heard without a break. What happened while it was away is found when it is back. It is safe
// for concurrent use.
type SharedTombstones struct {
	s      *Shared
	local  *Tombstones
	ledger *ledger
	ended  func(name string)

	mu    sync.Mutex
	asked map[string]askedName
	// untold are those that Redis does not have.
	untold map[string]untoldEnd
}

// untoldEnd is whose tombstone it is, and until when.
type untoldEnd struct {
	owner string
	until time.Time
}

// askedName is a name that had no tombstone: in which epoch of the bus, and when.
type askedName struct {
	epoch int64
	at    time.Time
}

// Tombstones returns tombstones that replicas share. It is for the time before [Shared.Run], and for one owner. While Redis is away
// each replica knows its own, in local, and those that it has heard of.
func (s *Shared) Tombstones(local *Tombstones) *SharedTombstones {
	t := &SharedTombstones{s: s, local: local, ended: func(string) {}, ledger: newLedger(endsInAll, endsPerOwner, s.o.Now), asked: make(map[string]askedName), untold: make(map[string]untoldEnd)}
	s.bus.Subscribe(topicEnds, t.heard)
	s.repeated = append(s.repeated, t.tellAgain)
	return t
}

// Ended has f called with each name that another replica has told to be revoked, once or more. It is for the time before [Shared.Run], and f should
// not wait.
func (t *SharedTombstones) Ended(f func(name string)) { t.ended = f }

// heard takes what another replica tells.
func (t *SharedTombstones) heard(message []byte) {
	if len(message) > 8 {
		until := time.UnixMilli(int64(binary.BigEndian.Uint64(message))) //nolint:gosec // it was made of one
		_ = t.local.Revoke(context.Background(), "", string(message[8:]), until)
		t.ended(string(message[8:]))
	}
}

// Revoke remembers a name of an owner until the given time, here and, if Redis is there, everywhere, also if nobody waits for it: who ends a
// session often leaves at once. The error is always nil.
func (t *SharedTombstones) Revoke(ctx context.Context, owner, name string, until time.Time) error {
	ctx = context.WithoutCancel(ctx)
	_ = t.local.Revoke(ctx, owner, name, until)
	if t.tell(ctx, owner, name, until) != nil && !t.s.alone() {
		t.mu.Lock()
		if len(t.untold) < maxUntold {
			t.untold[name] = untoldEnd{owner, until}
		}
		t.mu.Unlock()
	}
	return nil
}

// tell has Redis, and the replicas that run, know of a tombstone. The error is that of Redis.
func (t *SharedTombstones) tell(ctx context.Context, owner, name string, until time.Time) (err error) {
	kept := until.Add(clocksApart)
	life := kept.Sub(t.s.o.Now())
	if life <= 0 {
		return nil
	}
	if key := t.s.name("end", digest(name)); t.ledger.take(key, owner, 1, kept) {
		err = t.s.do(ctx, useSessions, func(ctx context.Context, c *redis.Client) error { // which has counted what is lost
			return c.Set(ctx, key, "1", max(life, time.Millisecond)).Err()
		})
		if err != nil {
			t.ledger.drop(key)
		}
	}
	t.s.bus.Publish(ctx, topicEnds, append(binary.BigEndian.AppendUint64(nil, uint64(until.UnixMilli())), name...)) //nolint:gosec // after 1970
	return err
}

// tellAgain tells what could not be told.
func (t *SharedTombstones) tellAgain(ctx context.Context) {
	t.mu.Lock()
	waiting := maps.Clone(t.untold)
	t.mu.Unlock()
	for name, end := range waiting {
		if t.tell(ctx, end.owner, name, end.until) != nil {
			return // the rest waits, too
		}
		t.mu.Lock()
		delete(t.untold, name)
		t.mu.Unlock()
	}
}

// Revoked tells whether a name was revoked and its time has not passed.
func (t *SharedTombstones) Revoked(ctx context.Context, name string) bool {
	if t.local.Revoked(ctx, name) {
		return true
	}
	epoch, listens := t.s.bus.epoch()
	if listens && t.known(name, epoch) {
		return false
	}
	var left time.Duration
	err := t.s.do(ctx, useSessions, func(ctx context.Context, c *redis.Client) (err error) {
		left, err = c.PTTL(ctx, t.s.name("end", digest(name))).Result()
		return err
	})
	switch {
	case err != nil && !errors.Is(err, redis.Nil):
		return false // it is alive as far as anybody here knows
	case left == -2: // there is no such key
		if listens {
			t.know(name, epoch)
		}
		return false
	case left <= 0 || left > maxTombstone:
		left = maxTombstone
	}
	_ = t.local.Revoke(ctx, "", name, t.s.o.Now().Add(left))
	return true
}

func (t *SharedTombstones) known(name string, epoch int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	then, ok := t.asked[name]
	return ok && then.epoch == epoch && t.s.o.Now().Sub(then.at) < askedLife
}

func (t *SharedTombstones) know(name string, epoch int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, again := t.asked[name]; !again && len(t.asked) >= maxAsked {
		for other := range t.asked { // any: it is asked for again
			delete(t.asked, other)
			break
		}
	}
	t.asked[name] = askedName{epoch, t.s.o.Now()}
}
