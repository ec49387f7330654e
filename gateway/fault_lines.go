package gateway

import (
	"sync"
	"time"
)

const (
	// faultSpan is for how long lines of calls that end alike are counted, and maxFaultLines how many of them the log has in that time: enough
	// to see what it is, and too few to bury what else it says while a service is down for hours.
	faultSpan     = time.Minute
	maxFaultLines = 10
	// maxFaultKinds is beyond how many kinds those are forgotten that are over; APIs of a directory come and go.
	maxFaultKinds = 1000
)

// faultLines bounds what the log says of calls that fail for the service or the gateway, or of requests that are refused and may come again. Its zero
// value can be used. It is safe for concurrent use.
type faultLines struct {
	mu    sync.Mutex
	kinds map[faultKind]faultSpell
}

// faultKind is what calls have in common whose lines say much the same. Of refused requests it is method and status.
type faultKind struct {
	api     string
	outcome outcome
}

// faultSpell is a time in which calls of a kind are counted.
type faultSpell struct {
	since time.Time
	calls int
}

// tells counts a call that has failed, and tells whether the log has a line for it. last: it is the last one for now; untold is how many had none in
// the spell before.
func (f *faultLines) tells(api string, o outcome, now time.Time) (tell, last bool, untold int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := faultKind{api, o}
	spell, ok := f.kinds[kind]
	if !ok || now.Sub(spell.since) >= faultSpan {
		untold = max(0, spell.calls-maxFaultLines)
		spell = faultSpell{since: now}
		if f.kinds == nil {
			f.kinds = map[faultKind]faultSpell{}
		}
		if !ok && len(f.kinds) >= maxFaultKinds {
			for k, s := range f.kinds {
				if now.Sub(s.since) >= faultSpan {
					delete(f.kinds, k)
				}
			}
		}
	}
	spell.calls++
	f.kinds[kind] = spell
	return spell.calls <= maxFaultLines, spell.calls == maxFaultLines, untold
}
