package state

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// answerTTL is the maximum time that a response is shared.
	answerTTL = time.Hour
	// markTTL is longer, so that no response outlives the mark that made it stale.
	markTTL = answerTTL + 5*time.Minute
	// maxAnswer is the maximum size of a sealed response in bytes.
	maxAnswer = 512 << 10
	// answerQueue and answerQueueBytes limit the pending writes.
	answerQueue      = 256
	answerQueueBytes = 8 << 20
	// marksInAll limits the bytes of marks that this process has in Redis. Beyond it a change
	// invalidates the whole service.
	marksInAll = 16 << 20
	// answerHead is the length of the header of a value: its expiry in milliseconds, and the length
	// of its mark.
	answerHead = 9
	// maxMark is the maximum size of a mark in bytes.
	maxMark = 64
	// topicAnswers is the topic of invalidations: a group, and places, separated by line breaks;
	// without places the whole group.
	topicAnswers = "answers"
)

// SharedAnswers is the response cache that replicas share on Redis, the second level behind that of
// each process (cache.Beyond). Values are sealed, and bound
// to their name, which is a keyed digest of everything that determines them: a value that was moved
// does not open. Beside the values there are marks, of places and of whole services, which a change
// replaces: a value counts only with the marks that were current when it was requested. It is safe
// for concurrent use.
type SharedAnswers struct {
	s            *Shared
	quota, marks *quota
	queue        chan func(context.Context)
	queued       atomic.Int64 // bytes in the queue
	stale        func(group string, places []string)

	mu      sync.Mutex
	pending map[string]int       // pending changes by group that were not published; nothing of these groups is shared meanwhile
	changed map[string]time.Time // time of this replica's last change by group: Redis may lose it
}

// Answers returns the shared response cache. Each replica stores at most that many bytes, and at
// most a quarter of them for one owner. It must be called before [Shared.Run], and for one cache. stale is
// called for changes by other replicas, at places of a group or, without any, everywhere in it;
// missed if such changes may have been lost. Neither should block.
func (s *Shared) Answers(bytes int64, stale func(group string, places []string), missed func()) *SharedAnswers {
	a := &SharedAnswers{s: s, quota: newQuota(bytes, bytes/4, s.o.Now), marks: newQuota(marksInAll, marksInAll, s.o.Now),
		queue: make(chan func(context.Context), answerQueue), stale: stale, pending: make(map[string]int), changed: make(map[string]time.Time)}
	s.bus.Subscribe(topicAnswers, a.onMessage)
	s.bus.Missed(missed)
	s.onDoubt(a.doubt)
	s.answers = a
	return a
}

// Resize changes the maximum number of stored bytes.
func (a *SharedAnswers) Resize(bytes int64) { a.quota.resize(bytes, bytes/4) }

func (a *SharedAnswers) valueName(key string) string { return a.s.name("answer", a.s.pseudonym(key)) }

// markName is the name of the mark of a place or, if place is empty, of a whole group.
func (a *SharedAnswers) markName(group, place string) string {
	return a.s.name("answer-at", a.s.pseudonym(group+"\n"+place))
}

// Get returns the value of a key unless it is stale, its remaining lifetime, and the mark for a
// later Put. It takes one round trip.
func (a *SharedAnswers) Get(ctx context.Context, key, group, place string) (value []byte, left time.Duration, mark string) {
	if a.isPending(group) {
		return nil, 0, ""
	}
	name := a.valueName(key)
	var sealed *redis.StringCmd
	var ttl *redis.DurationCmd
	var marks [2]*redis.StringCmd
	err := a.s.do(ctx, useAnswers, func(ctx context.Context, c *redis.Client) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			sealed, ttl = p.GetRange(ctx, name, 0, maxAnswer), p.PTTL(ctx, name) // never read more, whatever is stored
			marks[0], marks[1] = p.GetRange(ctx, a.markName(group, place), 0, maxMark), p.GetRange(ctx, a.markName(group, ""), 0, maxMark)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, 0, ""
	}
	mark = "m" + marks[0].Val() + "." + marks[1].Val()
	if len(mark) > maxMark {
		a.s.failures[useAnswers].Inc()
		return nil, 0, "" // not written by a replica
	}
	if sealed.Val() == "" {
		return nil, 0, mark
	}
	value, left, ok := a.open(name, sealed.Val(), mark)
	if left = min(left, ttl.Val()); !ok || left <= 0 {
		return nil, 0, mark
	}
	return value, left, mark
}

// open opens the sealed value of a name, if it was stored with the mark.
func (a *SharedAnswers) open(name, sealed, mark string) (value []byte, left time.Duration, ok bool) {
	plain, err := a.s.o.Seal.Open(sealed, []byte(name))
	if err != nil || len(plain) < answerHead || len(plain) < answerHead+int(plain[8]) {
		a.s.failures[useAnswers].Inc()
		return nil, 0, false
	}
	until := int64(min(binary.BigEndian.Uint64(plain), 1<<50)) //nolint:gosec // bounded
	left = time.UnixMilli(until).Sub(a.s.o.Now())
	value = plain[answerHead+int(plain[8]):]
	return value, left, left > 0 && string(plain[answerHead:answerHead+int(plain[8])]) == mark
}

// Put stores a value in the background, or not at all if too many writes are pending.
func (a *SharedAnswers) Put(key, owner, mark string, value []byte, life time.Duration) {
	life = min(life, answerTTL)
	size := int64(len(value))
	if 4*size/3+sealedHead > maxAnswer || len(mark) > maxMark || life < time.Millisecond {
		return
	}
	if a.queued.Add(size) > answerQueueBytes || !a.enqueue(func(ctx context.Context) {
		defer a.queued.Add(-size)
		a.put(ctx, key, owner, mark, value, life)
	}) {
		a.queued.Add(-size)
		a.s.failures[useAnswers].Inc()
	}
}

func (a *SharedAnswers) put(ctx context.Context, key, owner, mark string, value []byte, life time.Duration) {
	name, until := a.valueName(key), a.s.o.Now().Add(life)
	if phase(a.s.phase.Load()) != up || !a.quota.reserve(name, owner, 4*len(value)/3+sealedHead, until) {
		return
	}
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, answerHead+len(mark)+len(value)), uint64(until.UnixMilli())) //nolint:gosec // after 1970
	plain = append(append(append(plain, byte(len(mark))), mark...), value...)
	sealed := a.s.o.Seal.Seal(plain, []byte(name))
	err := a.s.do(ctx, useAnswers, func(ctx context.Context, c *redis.Client) error {
		return c.Set(ctx, name, sealed, life).Err()
	})
	if err != nil {
		a.quota.drop(name)
	}
}

// Changed invalidates what was requested before at places of a group. If the change can't be
// published, this replica shares nothing of the group until it is; other replicas may use stale
// values until they expire.
func (a *SharedAnswers) Changed(ctx context.Context, group string, places []string) {
	if a.s.alone() {
		return
	}
	a.recordChange(group)
	names := make([]string, 0, len(places))
	until := a.s.o.Now().Add(markTTL)
	for _, place := range places {
		name := a.markName(group, place)
		if !a.marks.reserve(name, "", maxMark, until) {
			names = []string{a.markName(group, "")}
			break
		}
		names = append(names, name)
	}
	if a.mark(context.WithoutCancel(ctx), names, group+"\n"+strings.Join(places, "\n")) != nil {
		a.mu.Lock()
		a.pending[group]++
		a.mu.Unlock()
	}
}

// recordChange remembers a change of a group for as long as older responses may be stored.
func (a *SharedAnswers) recordChange(group string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.changed[group]; !known {
		a.forgetOld()
	}
	a.changed[group] = a.s.o.Now()
}

// forgetOld removes old changes. The caller holds the mutex.
func (a *SharedAnswers) forgetOld() {
	now := a.s.o.Now()
	maps.DeleteFunc(a.changed, func(_ string, at time.Time) bool { return now.Sub(at) >= markTTL })
}

// doubt schedules changes that Redis may have lost for publication, while older responses may be
// stored.
func (a *SharedAnswers) doubt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forgetOld()
	for group := range a.changed {
		a.pending[group]++
	}
}

// mark replaces marks, and notifies the other replicas, in one round trip.
func (a *SharedAnswers) mark(ctx context.Context, names []string, message string) error {
	next := rand.Text()
	channel, sealed := a.s.bus.envelope(topicAnswers, []byte(message))
	return a.s.do(ctx, useAnswers, func(ctx context.Context, c *redis.Client) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, name := range names {
				p.Set(ctx, name, next, markTTL)
			}
			p.Publish(ctx, channel, sealed)
			return nil
		})
		return err
	})
}

func (a *SharedAnswers) isPending(group string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, blind := a.pending[group]
	return blind
}

// publishPending invalidates the whole groups whose changes were not published, or may be lost.
func (a *SharedAnswers) publishPending(ctx context.Context) {
	a.mu.Lock()
	blind := maps.Clone(a.pending)
	a.mu.Unlock()
	for group, changes := range blind {
		if a.mark(ctx, []string{a.markName(group, "")}, group) != nil {
			return
		}
		a.mu.Lock()
		if a.pending[group] == changes { // no change meanwhile
			delete(a.pending, group)
		}
		a.mu.Unlock()
	}
}

// onMessage handles a change by another replica.
func (a *SharedAnswers) onMessage(message []byte) {
	group, places, some := strings.Cut(string(message), "\n")
	if !some {
		a.stale(group, nil)
		return
	}
	a.stale(group, strings.Split(places, "\n"))
}

// enqueue runs f in the background; it returns false if the queue is full.
func (a *SharedAnswers) enqueue(f func(context.Context)) bool {
	select {
	case a.queue <- f:
		return true
	default:
		return false
	}
}

// run executes the queue until ctx ends.
func (a *SharedAnswers) run(ctx context.Context) {
	ticker := time.NewTicker(lastProbe)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-a.queue:
			f(ctx)
		case <-ticker.C:
			if phase(a.s.phase.Load()) == up {
				a.publishPending(ctx)
			}
		}
	}
}
