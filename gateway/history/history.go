package history

import (
	"sync"
	"time"
)

const (
	// Minutes is how far back the counts reach.
	Minutes = 60
	// MaxAPIs is the number of APIs that are counted apart.
	MaxAPIs = 300
)

// Options configure a [Recorder].
type Options struct {
	// On reports whether calls are recorded at present, and Bodies whether with arguments and answers. Both are called for
	// each call.
	On, Bodies func() bool
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Recorder keeps the calls of the last hour. It is safe for concurrent use. A nil Recorder records nothing.
type Recorder struct {
	o Options

	mu      sync.Mutex
	minutes [Minutes]minute
	apis    map[string]*apiHour
	purged  int64 // the minute in which room was last made in apis
	ring    []slot
	number  uint64 // of the last call
}

// New returns a recorder without calls.
func New(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{o: o, apis: map[string]*apiHour{}}
}

// On reports whether calls are recorded at present.
func (r *Recorder) On() bool { return r != nil && r.o.On() }

// Bodies reports whether calls are recorded with arguments and answers at present.
func (r *Recorder) Bodies() bool { return r.On() && r.o.Bodies() }

// Add records a call, whose number it ignores. It keeps copies of the texts alone.
func (r *Recorder) Add(c *Call) {
	at := minuteOf(r.o.Now())
	bucket := bucketOf(c.Duration)
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &r.minutes[at%Minutes]
	if m.minute != at {
		*m = minute{counts: counts{minute: at}}
	}
	m.add(c)
	m.latency[bucket]++
	if a := r.api(c.API, at); a != nil {
		a.add(c, at, bucket)
	}
	if r.ring == nil {
		r.ring = make([]slot, MaxCalls)
	}
	r.number++
	r.ring[r.number%MaxCalls].set(c, r.number)
}

// api returns the counts of an API; nil if there are too many. Those without a call in the last hour make room.
func (r *Recorder) api(name string, at int64) *apiHour {
	a := r.apis[name]
	if a != nil || name == "" {
		return a
	}
	if len(r.apis) >= MaxAPIs {
		if r.purged != at { // once a minute: calls take constant time
			r.purged = at
			for other, a := range r.apis {
				if a.last <= at-Minutes {
					delete(r.apis, other)
				}
			}
		}
		if len(r.apis) >= MaxAPIs {
			return nil
		}
	}
	a = &apiHour{}
	r.apis[string([]byte(name))] = a
	return a
}

// Recent returns the last n minutes, 1 to [Minutes], the oldest first; the last one has only begun. total is all of them. Both are empty
// if r is nil.
func (r *Recorder) Recent(n int) (minutes []Minute, total Minute) {
	if r == nil {
		return nil, Minute{}
	}
	now := r.o.Now()
	r.mu.Lock()
	all := r.minutes
	r.mu.Unlock()
	return recent(&all, now, max(1, min(n, Minutes)))
}

// APIs returns the sums of the last hour by API, without those that were not called.
func (r *Recorder) APIs() map[string]Sum {
	sums := map[string]Sum{}
	if r == nil {
		return sums
	}
	at := minuteOf(r.o.Now())
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, a := range r.apis {
		if sum := a.sum(at); sum.Calls > 0 {
			sums[name] = sum
		}
	}
	return sums
}

// Last returns the last calls that a filter accepts, the newest first, at most n. It holds up other goroutines for the time of
// one call at a time.
func (r *Recorder) Last(n int, accepts func(*Call) bool) (calls []Call) {
	if r == nil {
		return nil
	}
	var s slot
	for number := r.Newest(); number > 0 && len(calls) < n && r.copy(number, &s); number-- {
		if c := s.restored(); accepts(&c) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Newest returns the number of the last call; 0 if there was none.
func (r *Recorder) Newest() uint64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number
}

// copy copies the call of a number. It reports false if a newer call is in its place.
func (r *Recorder) copy(number uint64, to *slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := &r.ring[number%MaxCalls]
	if from.call.Number != number {
		return false
	}
	arguments, answer := to.call.Arguments, to.call.Answer
	*to = *from
	to.call.Arguments, to.call.Answer = append(arguments[:0], from.call.Arguments...), append(answer[:0], from.call.Answer...)
	return true
}
