package state

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Limit is the rate limit of a key: Burst calls at once, and one more in each Interval. Both are
// above 0.
type Limit struct {
	Interval time.Duration // between calls in steady state
	Burst    int
}

// Decision is the result of applying a limit to a call.
type Decision struct {
	Allowed bool
	// Remaining is the number of further calls that are allowed right now.
	Remaining int
	// RetryAfter is the time until the call would be allowed if no other comes first; 0 if it is
	// allowed.
	RetryAfter time.Duration
	// Reset is the time until the key has its whole burst again.
	Reset time.Duration
	// Uncounted reports that the call was rejected because the counter was unavailable, not because
	// there were too many calls.
	Uncounted bool
}

// RateCounters counts calls against limits. It is safe for concurrent use.
type RateCounters interface {
	// Take counts n calls of a key, all or none of them. It counts nothing if it does not allow the
	// calls, so that rejected retries cost nothing. With n of 0 it counts nothing, and reports
	// whether one call would be allowed. More than the burst at once count as the burst. A key must
	// not be used with two limits at a time; after a change of limits, the count is kept as far as
	// the new limit covers it.
	//
	// An error means that the counter was unavailable. The decision holds nevertheless, based on
	// local knowledge: a call never fails because its rate is unknown.
	Take(ctx context.Context, key string, l Limit, n int) (Decision, error)
	// TakeAll is Take for several different keys at once: if one of them rejects, none is counted.
	// The decisions are in the same order; those that would have allowed the call say so.
	TakeAll(ctx context.Context, takes []Take) ([]Decision, error)
}

// Take counts N calls of a key.
type Take struct {
	Key   string
	Limit Limit
	N     int
}

// Decide applies the generic cell rate algorithm (ITU-T I.371, annex A), which spreads calls evenly
// and needs one number per key: the time at which it has its whole burst again. due is the duration
// until that time. A negative one counts as 0, and one beyond the whole burst, from another limit
// or clock, as the whole burst. It returns the new duration, unchanged if nothing is counted.
func (l Limit) Decide(due time.Duration, n int) (time.Duration, Decision) {
	n = min(n, l.Burst)
	room := l.window()
	due = min(max(due, 0), room)
	after := due + l.Interval*time.Duration(n)
	if wait := max(after, due+l.Interval) - room; wait > 0 {
		return due, Decision{Remaining: int(max(room-due, 0) / l.Interval), RetryAfter: wait, Reset: due}
	}
	return after, Decision{Allowed: true, Remaining: int((room - after) / l.Interval), Reset: after}
}

// window is the time until an exhausted burst is whole again.
func (l Limit) window() time.Duration { return l.Interval * time.Duration(l.Burst) }

// LocalRateCounters implements [RateCounters] in the memory of one process. It holds a limited number of keys. A
// key that has its whole burst again is equivalent to an unknown one, and is evicted for a new one.
// If there is none, the one closest to its whole burst among a few is evicted, which resets it: a
// flood of very many keys loosens the limits of keys with little use, and never rejects a new key.
type LocalRateCounters struct {
	now    func() time.Time
	start  time.Time
	seed   maphash.Seed
	max    int // keys per shard
	shards [rateShards]rateShard
}

const (
	rateShards = 32
	// ratesKept keys take about 10 MB.
	ratesKept = 1 << 16
	// ratesLooked is the number of keys examined for an eviction. A full sweep would let each key
	// of a flood cost a sweep.
	ratesLooked = 16
)

type rateShard struct {
	mu   sync.Mutex
	keys map[string]time.Duration // time at which the burst is whole again, since the start
}

// NewLocalRateCounters returns counters for at most max keys, rounded up to a multiple of 32; 0 means
// 65,536, which take about 10 MB. now is the clock, time.Now if nil.
func NewLocalRateCounters(max int, now func() time.Time) *LocalRateCounters {
	if max <= 0 {
		max = ratesKept
	}
	if now == nil {
		now = time.Now
	}
	r := &LocalRateCounters{now: now, start: now(), seed: maphash.MakeSeed(), max: (max + rateShards - 1) / rateShards}
	for i := range r.shards {
		r.shards[i].keys = make(map[string]time.Duration)
	}
	return r
}

// Take implements [RateCounters]. The error is always nil.
func (r *LocalRateCounters) Take(_ context.Context, key string, l Limit, n int) (Decision, error) {
	s := &r.shards[maphash.String(r.seed, key)%rateShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := r.now().Sub(r.start)
	full, known := s.keys[key]
	due, d := l.Decide(full-now, n)
	if n > 0 && d.Allowed || full-now > l.window() {
		s.put(key, known, now, now+due, r.max)
	}
	return d, nil
}

// TakeBytes is Take for a key of bytes, which is converted to a string only if it is new.
func (r *LocalRateCounters) TakeBytes(key []byte, l Limit, n int) Decision {
	s := &r.shards[maphash.Bytes(r.seed, key)%rateShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := r.now().Sub(r.start)
	full, known := s.keys[string(key)]
	due, d := l.Decide(full-now, n)
	if n > 0 && d.Allowed || full-now > l.window() {
		s.put(string(key), known, now, now+due, r.max)
	}
	return d
}

func (s *rateShard) put(key string, known bool, now, full time.Duration, max int) {
	if !known && len(s.keys) >= max {
		s.evict(now)
	}
	s.keys[key] = full
}

// TakeAll implements [RateCounters]. Calls that are refunded after a rejection may cause other calls to be
// rejected in between.
func (r *LocalRateCounters) TakeAll(ctx context.Context, takes []Take) ([]Decision, error) {
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
			r.refund(t)
		}
		if !decisions[i].Allowed {
			break // nothing was counted behind it
		}
	}
	return decisions, nil
}

// refund undoes a Take.
func (r *LocalRateCounters) refund(t Take) {
	s := &r.shards[maphash.String(r.seed, t.Key)%rateShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if full, ok := s.keys[t.Key]; ok {
		s.keys[t.Key] = full - t.Limit.Interval*time.Duration(min(t.N, t.Limit.Burst))
	}
}

// evict removes the keys that have their whole burst again among a few random ones, or else the one
// closest to it.
func (s *rateShard) evict(now time.Duration) {
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
