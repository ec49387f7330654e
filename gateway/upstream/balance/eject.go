package balance

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Outcome is the result of a request with respect to the health of its instance.
type Outcome uint8

// Values of [Outcome].
const (
	Unknown Outcome = iota // nothing is known, or not before the body of the response ends
	Success
	Failure
)

// Ejection determines which instances get no requests for a while because requests to them fail. An instance that can't be
// connected to is ejected in any case.
type Ejection struct {
	// Failures is the number of failed requests in a row after which an instance is ejected; 0 if it never is.
	Failures int
	// Judge returns the outcome of a request by its response header or, if there is none, by its error. It is also called for
	// the error of reading the body. It is not used if Failures is 0.
	Judge func(ctx context.Context, resp *http.Response, err error) Outcome
	// OnEject is called when an instance is ejected; nil if nobody needs to know.
	OnEject func(instance string, pause time.Duration)
}

// Pauses of an ejected instance: firstPause, doubled each time that the request after a pause fails, up to lastPause.
const (
	firstPause = 5 * time.Second
	lastPause  = time.Minute
)

// maxEjected is the share of the instances, in per cent, that may be ejected because requests fail. If more instances fail, the
// service as a whole fails, and its circuit breaker opens.
const maxEjected = 50

// instance is what is known of an instance; nothing is known of most.
type instance struct {
	failures int           // in a row
	until    time.Time     // when the pause ends; zero if the instance is not ejected
	pause    time.Duration // its length
	probed   bool          // a request that decides about the next pause is under way
}

// instances is what is known of the instances of a service. It is safe for concurrent use.
type instances struct {
	Ejection
	now func() time.Time

	mu    sync.Mutex
	known map[string]*instance
}

// pick returns the instance whose turn it is, of those that may get the request and are not ejected. instances are all of the service. The first request after a pause is a probe: the other
// requests go to the other instances until its outcome is known, or for another pause. If all are ejected, they get requests in turn.
func (s *instances) pick(all, instances []string, turn uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) == 0 {
		return all[turn%uint64(len(all))]
	}
	s.forget(instances)
	now := s.now()
	healthy := make([]string, 0, len(all))
	for _, address := range all {
		one := s.known[address]
		switch {
		case one == nil || one.until.IsZero():
			healthy = append(healthy, address)
		case now.After(one.until):
			one.until, one.probed = now.Add(one.pause), true
			return address
		}
	}
	if len(healthy) > 0 {
		return healthy[turn%uint64(len(healthy))]
	}
	address := all[turn%uint64(len(all))]
	s.known[address].probed = true
	return address
}

// forget removes instances that are gone, if there are many.
func (s *instances) forget(all []string) {
	if len(s.known) <= 2*len(all) {
		return
	}
	for address := range s.known {
		if !slices.Contains(all, address) {
			delete(s.known, address)
		}
	}
}

func (s *instances) of(address string) *instance {
	one := s.known[address]
	if one == nil {
		one = &instance{}
		s.known[address] = one
	}
	return one
}

// unreachable ejects an instance that can't be connected to. All may be: such a request goes on to the next one.
func (s *instances) unreachable(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.of(address)
	one.pause, one.probed = firstPause, false
	one.until = s.now().Add(one.pause)
}

// record takes over the outcome of a request to one of some instances.
func (s *instances) record(all []string, address string, o Outcome) {
	switch o {
	case Success:
		s.mu.Lock()
		defer s.mu.Unlock()
		if one := s.known[address]; one != nil && (one.until.IsZero() || one.probed) {
			delete(s.known, address)
		}
	case Failure:
		if pause := s.failed(all, address); pause > 0 && s.OnEject != nil {
			s.OnEject(address, pause)
		}
	case Unknown:
	}
}

// failed counts a failure. It returns the pause that begins; 0 if none does.
func (s *instances) failed(all []string, address string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Failures <= 0 {
		return 0
	}
	one := s.of(address)
	switch {
	case one.probed:
		one.pause = min(2*one.pause, lastPause)
	case !one.until.IsZero(): // the request was sent before the pause
		return 0
	default:
		if one.failures++; one.failures < s.Failures || (s.ejected(all)+1)*100 > maxEjected*len(all) {
			return 0
		}
		one.pause = firstPause
	}
	one.until, one.probed = s.now().Add(one.pause), false
	return one.pause
}

// ejected returns how many of some instances are ejected.
func (s *instances) ejected(all []string) (n int) {
	now := s.now()
	for _, address := range all {
		if one := s.known[address]; one != nil && now.Before(one.until) {
			n++
		}
	}
	return n
}
