package gateway

import (
	"cmp"
	"log/slog"
	"sync"
	"time"
)

const (
	// faultSpan is for how long lines of calls that end alike are counted, and maxFaultLines how many of them the log has in that time: enough
	// to see what it is, and too few to bury what else it says while a service is down for hours.
	faultSpan     = time.Minute
	maxFaultLines = 10
	// maxMistakeLines is that of requests that their clients have made wrong, which who looks for one of them wants to see.
	maxMistakeLines = 100
	// maxFaultKinds is beyond how many kinds those are forgotten that are over; APIs of a directory come and go.
	maxFaultKinds = 1000
)

// faultLines bounds what the log says of calls that fail for the service or the gateway, or of requests that are refused. Its zero
// value can be used. It is safe for concurrent use.
type faultLines struct {
	most int // lines of a kind; 0: maxFaultLines

	mu    sync.Mutex
	kinds map[faultKind]faultSpell
}

// faultKind is what calls have in common whose lines say much the same. Of refused requests it is method and status, with the code of those that are wrong.
type faultKind struct {
	api     string
	outcome outcome
}

// faultSpell is a time in which calls of a kind are counted.
type faultSpell struct {
	since time.Time
	calls int
}

// faultLine is what the log has of one that has failed.
type faultLine struct {
	tell   bool // it has a line
	last   bool // the last one for now
	untold int  // how many had none in the spell before
}

// with adds what a line tells of those without one; such says which they are, and by what they are counted.
func (l faultLine) with(attrs []slog.Attr, such string) []slog.Attr {
	if l.untold > 0 {
		attrs = append(attrs, slog.Int("untold_before", l.untold))
	}
	if l.last {
		attrs = append(attrs, slog.String("more", "for a minute such "+such))
	}
	return attrs
}

// tells counts one that has failed, and tells what the log has of it.
func (f *faultLines) tells(api string, o outcome, now time.Time) faultLine {
	f.mu.Lock()
	defer f.mu.Unlock()
	most := cmp.Or(f.most, maxFaultLines)
	kind := faultKind{api, o}
	untold := 0
	spell, ok := f.kinds[kind]
	if !ok || now.Sub(spell.since) >= faultSpan {
		untold = max(0, spell.calls-most)
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
	return faultLine{tell: spell.calls <= most, last: spell.calls == most, untold: untold}
}
