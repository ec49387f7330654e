package history

import (
	"sync"
	"time"
)

const (
	// Minutes is how far back the counts reach.
	Minutes = 60
	// MaxCalls is the number of last calls that are kept.
	MaxCalls = 500
	// MaxBody is the most bytes of arguments, and of an answer, that are kept of a call.
	MaxBody = 2048
	// maxAPIs is the number of APIs that are counted apart.
	maxAPIs = 2000
)

// Step is a part of a call's life.
type Step int

// The steps, in order.
const (
	Admission Step = iota // limits, until the call may run
	Arguments             // validation, conditions and the user's consent
	Service               // cache, credentials, the request, and the header of the response
	Result                // reading and rendering the response
	Steps                 // the number of steps
)

// String returns the name of the step.
func (s Step) String() string { return [...]string{"admission", "arguments", "service", "result"}[s] }

// Call is one call, as it ended. Its texts come from the gateway's own documents and settings, except Caller, Client,
// Arguments and Answer.
type Call struct {
	Number    uint64 // counts the calls since the start, from 1
	Time      time.Time
	RPC       string // the MCP method
	Tool, API string // API is "" for an unknown tool
	Outcome   string
	OK        bool   // the outcome is no failure
	Status    int    // of the service's response; 0 if there was none
	Cache     string // what the response cache did; "" if it was not asked
	Duration  time.Duration
	Steps     [Steps]time.Duration // 0 for those that were not reached
	Requests  int                  // sent to the service
	Sent      int64                // bytes of request bodies
	Received  int64                // bytes of response bodies
	Result    int64                // bytes of the texts of the result
	Caller    string               // subject of the token; "" without one
	Client    string               // client id of the token
	Request   string               // request id
	Trace     string               // trace id; "" without tracing
	// Arguments and Answer are their first bytes; nil unless Options.Bodies.
	Arguments, Answer []byte
}

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
	apis    map[string]*[Minutes]counts
	calls   []Call // a ring, in which calls[number%MaxCalls] is the call of that number
	number  uint64 // of the last call
}

// counts is how many calls ended in a minute.
type counts struct {
	minute        int64 // since the Unix epoch
	calls, failed uint32
}

// minute is what happened in a minute.
type minute struct {
	counts
	result  int64
	latency latencies
}

// New returns a recorder without calls.
func New(o Options) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Recorder{o: o, apis: map[string]*[Minutes]counts{}}
}

// On reports whether calls are recorded at present.
func (r *Recorder) On() bool { return r != nil && r.o.On() }

// Bodies reports whether calls are recorded with arguments and answers at present.
func (r *Recorder) Bodies() bool { return r.On() && r.o.Bodies() }

// Add records a call. It sets its number.
func (r *Recorder) Add(c *Call) {
	now := r.o.Now()
	at := now.Unix() / 60
	r.mu.Lock()
	defer r.mu.Unlock()
	m := &r.minutes[at%Minutes]
	if m.minute != at {
		*m = minute{counts: counts{minute: at}}
	}
	m.add(c.OK)
	m.result += c.Result
	m.latency.add(c.Duration)
	if of := r.of(c.API, at); of != nil {
		n := &of[at%Minutes]
		if n.minute != at {
			*n = counts{minute: at}
		}
		n.add(c.OK)
	}
	r.number++
	c.Number = r.number
	if r.calls == nil {
		r.calls = make([]Call, MaxCalls)
	}
	r.calls[r.number%MaxCalls] = *c
}

func (n *counts) add(ok bool) {
	n.calls++
	if !ok {
		n.failed++
	}
}

// of returns the counts of an API; nil if there are too many. Those without a call in the last hour make room.
func (r *Recorder) of(api string, at int64) *[Minutes]counts {
	of := r.apis[api]
	if of != nil || api == "" {
		return of
	}
	if len(r.apis) >= maxAPIs {
		for name, other := range r.apis {
			if sum := sumOf(other, at); sum.Calls == 0 {
				delete(r.apis, name)
			}
		}
		if len(r.apis) >= maxAPIs {
			return nil
		}
	}
	of = &[Minutes]counts{}
	r.apis[api] = of
	return of
}

// Minute is what happened in one minute.
type Minute struct {
	Begin         time.Time
	Calls, Failed int
	P50, P99      time.Duration // 0 without calls
	Result        int64         // bytes of the texts of results
}

// Sum is what happened within the last hour.
type Sum struct {
	Calls, Failed int
}

// Hour returns the last hour by minutes, the oldest first; the last one has only begun. total is all of it.
func (r *Recorder) Hour() (minutes []Minute, total Minute) {
	if r == nil {
		return nil, Minute{}
	}
	now := r.o.Now()
	at := now.Unix() / 60
	var all latencies
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := at - Minutes + 1; i <= at; i++ {
		one := Minute{Begin: time.Unix(i*60, 0).In(now.Location())}
		if m := &r.minutes[i%Minutes]; m.minute == i {
			one.Calls, one.Failed, one.Result = int(m.calls), int(m.failed), m.result
			one.P50, one.P99 = m.latency.percentile(0.5), m.latency.percentile(0.99)
			for b, n := range m.latency {
				all[b] += n
			}
		}
		minutes = append(minutes, one)
		total.Calls, total.Failed, total.Result = total.Calls+one.Calls, total.Failed+one.Failed, total.Result+one.Result
	}
	total.Begin, total.P50, total.P99 = minutes[0].Begin, all.percentile(0.5), all.percentile(0.99)
	return minutes, total
}

// APIs returns the sums of the last hour by API, without those that were not called.
func (r *Recorder) APIs() map[string]Sum {
	sums := map[string]Sum{}
	if r == nil {
		return sums
	}
	at := r.o.Now().Unix() / 60
	r.mu.Lock()
	defer r.mu.Unlock()
	for api, of := range r.apis {
		if sum := sumOf(of, at); sum.Calls > 0 {
			sums[api] = sum
		}
	}
	return sums
}

func sumOf(of *[Minutes]counts, at int64) (sum Sum) {
	for i := range of {
		if of[i].minute > at-Minutes {
			sum.Calls += int(of[i].calls)
			sum.Failed += int(of[i].failed)
		}
	}
	return sum
}

// Last returns the last calls that a filter accepts, the newest first, at most n.
func (r *Recorder) Last(n int, accepts func(*Call) bool) (calls []Call) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for number := r.number; number > 0 && number+MaxCalls > r.number && len(calls) < n; number-- {
		if c := &r.calls[number%MaxCalls]; accepts(c) {
			calls = append(calls, *c)
		}
	}
	return calls
}
