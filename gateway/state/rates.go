package state

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Limit is how many calls one key may make: Burst at once, and one more in each Interval. Both are above 0.
type Limit struct {
	Interval time.Duration // between calls in steady state
	Burst    int
}

// Decision is what a limit says to a call.
type Decision struct {
	Allowed bool
	// Remaining is how many more calls are allowed right now, after this one.
	Remaining int
	// RetryAfter is how long until the call would be allowed, if nobody else comes before; 0 if it is allowed.
	RetryAfter time.Duration
	// Reset is how long until the key has its whole burst again.
	Reset time.Duration
	// Uncounted tells that it is not allowed because nobody could count it, and not because there were too many.
	Uncounted bool
}

// Rates counts calls against limits. It is safe for concurrent use.
type Rates interface {
	// Take counts n calls of a key, all or none of them. It counts nothing that it does not allow, so that who is refused
	// and goes on asking loses nothing by it. With n of 0 it counts nothing, and is allowed if one call would be. More
	// than the burst at once are counted as the burst. A key must not be used with two limits at a time; after a change of
	// limits, what was counted stays, as far as the new one has a memory of it.
	//
	// An error says that the counter could not be asked. The decision holds nevertheless, from what the process knows by
	// itself: a call never fails because its rate is not known.
	Take(ctx context.Context, key string, l Limit, n int) (Decision, error)
	// TakeAll is Take for several keys at once, all different: what one of them refuses is counted by none. The decisions
	// stand in the same order; those that would have allowed it say so.
	TakeAll(ctx context.Context, takes []Take) ([]Decision, error)
}

// Take is N calls of a key.
type Take struct {
	Key   string
	Limit Limit
	N     int
}

// Decide is the generic cell rate algorithm (ITU-T I.371, annex A), which spreads calls evenly and keeps one number for each
// key: the time at which it has its whole burst again. due is that time as a distance from now; what is over counts as
// 0, and what is farther away than the whole burst takes as that: it comes from another limit, or another clock. It returns the new distance, the
// same if nothing is counted.
func (l Limit) Decide(due time.Duration, n int) (time.Duration, Decision) {
	n = min(n, l.Burst)
	room := l.room()
	due = min(max(due, 0), room)
	after := due + l.Interval*time.Duration(n)
	if wait := max(after, due+l.Interval) - room; wait > 0 {
		return due, Decision{Remaining: int(max(room-due, 0) / l.Interval), RetryAfter: wait, Reset: due}
	}
	return after, Decision{Allowed: true, Remaining: int((room - after) / l.Interval), Reset: after}
}

// room is how long it takes until all of the burst is there again.
func (l Limit) room() time.Duration { return l.Interval * time.Duration(l.Burst) }

// LocalRates is [Rates] in the memory of one process. It holds a bounded number of keys. A key that has its whole burst again
// is as good as one never seen, so it makes room for a new one. With more live keys than that, the one that is nearest to
// its whole burst among a few is forgotten, and gets it at once: a flood from very many keys makes limits looser for who
// uses them little, and never refuses who comes for the first time.
type LocalRates struct {
	now    func() time.Time
	start  time.Time
	seed   maphash.Seed
	max    int // keys in a shard
	shards [rateShards]rateShard
}

const (
	rateShards = 32
	// ratesKept takes about 10 MB when all of them are there.
	ratesKept = 1 << 16
	// ratesLooked is how many keys a new one looks at for room. A full sweep would let a flood of keys cost a sweep each.
	ratesLooked = 16
)

type rateShard struct {
	mu   sync.Mutex
	keys map[string]time.Duration // when the whole burst is there again, since the start
}

// NewLocalRates makes counters for at most max keys, rounded up to a multiple of 32; 0: 65,536, which take about 10 MB. now is
// the clock; nil: time.Now.
func NewLocalRates(max int, now func() time.Time) *LocalRates {
	if max <= 0 {
		max = ratesKept
	}
	if now == nil {
		now = time.Now
	}
	r := &LocalRates{now: now, start: now(), seed: maphash.MakeSeed(), max: (max + rateShards - 1) / rateShards}
	for i := range r.shards {
		r.shards[i].keys = make(map[string]time.Duration)
	}
	return r
}

// Take implements [Rates]. The error is always nil: memory does not fail.
func (r *LocalRates) Take(_ context.Context, key string, l Limit, n int) (Decision, error) {
	s := &r.shards[maphash.String(r.seed, key)%rateShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := r.now().Sub(r.start)
	full, known := s.keys[key]
	due, d := l.Decide(full-now, n)
	if n > 0 && d.Allowed || full-now > l.room() {
		s.put(key, known, now, now+due, r.max)
	}
	return d, nil
}

// TakeBytes is Take for a key that is no string yet, and becomes one only if it is new.
func (r *LocalRates) TakeBytes(key []byte, l Limit, n int) Decision {
	s := &r.shards[maphash.Bytes(r.seed, key)%rateShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := r.now().Sub(r.start)
	full, known := s.keys[string(key)]
	due, d := l.Decide(full-now, n)
	if n > 0 && d.Allowed || full-now > l.room() {
		s.put(string(key), known, now, now+due, r.max)
	}
	return d
}

func (s *rateShard) put(key string, known bool, now, full time.Duration, max int) {
	if !known && len(s.keys) >= max {
		s.makeRoom(now)
	}
	s.keys[key] = full
}

// TakeAll implements [Rates]. What is given back when one refuses may have been missed by others in between, for a moment.
func (r *LocalRates) TakeAll(ctx context.Context, takes []Take) ([]Decision, error) {
	decisions := make([]Decision, len(takes))
	refused := false
	for i, t := range takes {
		n := t.N
		if refused {
			n = 0
		}
		decisions[i], _ = r.Take(ctx, t.Key, t.Limit, n)
		refused = refused || !decisions[i].Allowed
	}
	for i, t := range takes {
		if refused && decisions[i].Allowed {
			r.giveBack(t)
		}
		if !decisions[i].Allowed {
			break // nothing was counted behind it
		}
	}
	return decisions, nil
}

// giveBack takes back what was counted.
func (r *LocalRates) giveBack(t Take) {
	s := &r.shards[maphash.String(r.seed, t.Key)%rateShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if full, ok := s.keys[t.Key]; ok {
		s.keys[t.Key] = full - t.Limit.Interval*time.Duration(min(t.N, t.Limit.Burst))
	}
}

// makeRoom forgets the keys that have their whole burst again, among some that the map picks at random, or else the one that
// is nearest to it.
func (s *rateShard) makeRoom(now time.Duration) {
	var nearest string
	var soonest time.Duration
	looked, freed := 0, false
	for key, full := range s.keys {
		if full <= now {
			delete(s.keys, key)
			freed = true
		} else if looked == 0 || full < soonest {
			nearest, soonest = key, full
		}
		if looked++; looked == ratesLooked {
			break
		}
	}
	if !freed {
		delete(s.keys, nearest)
	}
}

// Len returns the number of keys held, those included that have their whole burst again.
func (r *LocalRates) Len() int {
	n := 0
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		n += len(s.keys)
		s.mu.Unlock()
	}
	return n
}
