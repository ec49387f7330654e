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
	// answerLife is the most that an answer is there for others.
	answerLife = time.Hour
	// markLife is longer, so that no answer outlives what made it stale.
	markLife = answerLife + 5*time.Minute
	// maxAnswer is the most bytes of an answer, as it is sealed.
	maxAnswer = 512 << 10
	// answerQueue and answerQueueBytes bound what waits to be put.
	answerQueue      = 256
	answerQueueBytes = 8 << 20
	// marksInAll bounds the bytes of marks that this process has in Redis. Beyond it a change makes stale all of its service.
	marksInAll = 16 << 20
	// answerHead is the length of what stands before a value: when it ends, in milliseconds, and the length of its mark.
	answerHead = 9
	// maxMark is the most bytes of a mark.
	maxMark = 64
	// topicAnswers is what replicas tell each other of what makes answers stale: group, and places, with line breaks between; without
	// places it is all of the group.
	topicAnswers = "answers"
)

// SharedAnswers is the cache.Beyond on the Redis that replicas share. Values are sealed, and bound to their name, which the keyed digest of
// all that decides on them makes: one that was moved does not open. Beside the values stand marks, of places and of whole services, which a
// change replaces: a value counts only with the marks under which it was asked for. It is safe for concurrent use.
type SharedAnswers struct {
	s             *Shared
	ledger, marks *ledger
	queue         chan func(context.Context)
	waiting       atomic.Int64 // bytes in the queue
	stop          func(group string, places []string)

	mu      sync.Mutex
	blind   map[string]int       // changes of groups that could not be told; nothing of them is shared until they are
	changed map[string]time.Time // when this replica has changed something of a group: Redis may lose that it was told
}

// Answers returns what replicas keep together, of so many bytes put by each of them, a quarter of it for one owner. It is for the time
// before [Shared.Run], and for one cache. stale is told of changes that other replicas have made, at places of a group or, without any,
// everywhere in it; missed, that such changes may not have been heard. Neither should wait.
func (s *Shared) Answers(bytes int64, stale func(group string, places []string), missed func()) *SharedAnswers {
	a := &SharedAnswers{s: s, ledger: newLedger(bytes, bytes/4, s.o.Now), marks: newLedger(marksInAll, marksInAll, s.o.Now),
		queue: make(chan func(context.Context), answerQueue), stop: stale, blind: make(map[string]int), changed: make(map[string]time.Time)}
	s.bus.Subscribe(topicAnswers, a.heard)
	s.bus.Missed(missed)
	s.doubted(a.doubt)
	s.answers = a
	return a
}

// Resize changes how many bytes may be put.
func (a *SharedAnswers) Resize(bytes int64) { a.ledger.resize(bytes, bytes/4) }

func (a *SharedAnswers) valueName(key string) string { return a.s.name("answer", a.s.pseudonym(key)) }

// markName is that of a place, or, without one, of a whole group.
func (a *SharedAnswers) markName(group, place string) string {
	return a.s.name("answer-at", a.s.pseudonym(group+"\n"+place))
}

// Get returns what was put under a key and is not stale, for how long it may be used, and the mark for what is put later. It is one round
// trip.
func (a *SharedAnswers) Get(ctx context.Context, key, group, place string) (value []byte, left time.Duration, mark string) {
	if a.isBlind(group) {
		return nil, 0, ""
	}
	name := a.valueName(key)
	var sealed *redis.StringCmd
	var ttl *redis.DurationCmd
	var marks [2]*redis.StringCmd
	err := a.s.do(ctx, useAnswers, func(ctx context.Context, c *redis.Client) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			sealed, ttl = p.GetRange(ctx, name, 0, maxAnswer), p.PTTL(ctx, name) // whatever is there, it is not read beyond
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
		return nil, 0, "" // it is none of ours
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

// open reads what stands under a name, if it was put with the mark.
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

// Put keeps a value: it is done behind the call, or, with too much to do, not at all.
func (a *SharedAnswers) Put(key, owner, mark string, value []byte, life time.Duration) {
	life = min(life, answerLife)
	size := int64(len(value))
	if 4*size/3+sealedHead > maxAnswer || len(mark) > maxMark || life < time.Millisecond {
		return
	}
	if a.waiting.Add(size) > answerQueueBytes || !a.later(func(ctx context.Context) {
		defer a.waiting.Add(-size)
		a.put(ctx, key, owner, mark, value, life)
	}) {
		a.waiting.Add(-size)
		a.s.failures[useAnswers].Inc()
	}
}

func (a *SharedAnswers) put(ctx context.Context, key, owner, mark string, value []byte, life time.Duration) {
	name, until := a.valueName(key), a.s.o.Now().Add(life)
	if phase(a.s.phase.Load()) != up || !a.ledger.take(name, owner, 4*len(value)/3+sealedHead, until) {
		return
	}
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, answerHead+len(mark)+len(value)), uint64(until.UnixMilli())) //nolint:gosec // after 1970
	plain = append(append(append(plain, byte(len(mark))), mark...), value...)
	sealed := a.s.o.Seal.Seal(plain, []byte(name))
	err := a.s.do(ctx, useAnswers, func(ctx context.Context, c *redis.Client) error {
		return c.Set(ctx, name, sealed, life).Err()
	})
	if err != nil {
		a.ledger.drop(name)
	}
}

// Changed makes stale what was asked for at places of a group before. What could not be told makes this replica blind for the group until it was: others may use what is
// stale for as long as it was fresh.
func (a *SharedAnswers) Changed(ctx context.Context, group string, places []string) {
	if a.s.alone() {
		return
	}
	a.note(group)
	names := make([]string, 0, len(places))
	until := a.s.o.Now().Add(markLife)
	for _, place := range places {
		name := a.markName(group, place)
		if !a.marks.take(name, "", maxMark, until) {
			names = []string{a.markName(group, "")}
			break
		}
		names = append(names, name)
	}
	if a.mark(context.WithoutCancel(ctx), names, group+"\n"+strings.Join(places, "\n")) != nil {
		a.mu.Lock()
		a.blind[group]++
		a.mu.Unlock()
	}
}

// note remembers that something of a group was changed, for as long as answers from before may be there.
func (a *SharedAnswers) note(group string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.changed[group]; !known {
		a.forget()
	}
	a.changed[group] = a.s.o.Now()
}

// forget forgets changes that are too long ago. The mutex is held.
func (a *SharedAnswers) forget() {
	now := a.s.o.Now()
	maps.DeleteFunc(a.changed, func(_ string, at time.Time) bool { return now.Sub(at) >= markLife })
}

// doubt has changes told again that Redis may have lost, while it has answers that they made stale.
func (a *SharedAnswers) doubt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget()
	for group := range a.changed {
		a.blind[group]++
	}
}

// mark replaces marks, and tells the other replicas of it, in one round trip.
func (a *SharedAnswers) mark(ctx context.Context, names []string, message string) error {
	next := rand.Text()
	channel, sealed := a.s.bus.envelope(topicAnswers, []byte(message))
	return a.s.do(ctx, useAnswers, func(ctx context.Context, c *redis.Client) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, name := range names {
				p.Set(ctx, name, next, markLife)
			}
			p.Publish(ctx, channel, sealed)
			return nil
		})
		return err
	})
}

func (a *SharedAnswers) isBlind(group string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, blind := a.blind[group]
	return blind
}

// see makes stale, as a whole, the groups of which a change could not be told, or may be lost.
func (a *SharedAnswers) see(ctx context.Context) {
	a.mu.Lock()
	blind := maps.Clone(a.blind)
	a.mu.Unlock()
	for group, changes := range blind {
		if a.mark(ctx, []string{a.markName(group, "")}, group) != nil {
			return
		}
		a.mu.Lock()
		if a.blind[group] == changes { // there was none meanwhile
			delete(a.blind, group)
		}
		a.mu.Unlock()
	}
}

// heard takes what another replica has changed.
func (a *SharedAnswers) heard(message []byte) {
	group, places, some := strings.Cut(string(message), "\n")
	if !some {
		a.stop(group, nil)
		return
	}
	a.stop(group, strings.Split(places, "\n"))
}

// later has something done behind the call; false: there is too much already.
func (a *SharedAnswers) later(f func(context.Context)) bool {
	select {
	case a.queue <- f:
		return true
	default:
		return false
	}
}

// run does what was left for later, until ctx ends.
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
				a.see(ctx)
			}
		}
	}
}
