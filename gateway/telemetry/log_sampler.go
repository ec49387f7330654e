package telemetry

import (
	"cmp"
	"log/slog"
	"sync"
	"time"
)

const (
	// SampleSpan is how long lines of one kind are counted.
	SampleSpan = time.Minute
	// MaxLines is how many lines of one kind the log has in a SampleSpan: enough to see the problem, and too few to bury the rest of
	// the log while a service is down for hours.
	MaxLines = 10
	// MaxMistakeLines replaces MaxLines for malformed requests, so that an operator who looks for one of them finds it.
	MaxMistakeLines = 100
	// maxKinds is the number of kinds beyond which those whose span is over are forgotten; APIs of a directory come and go.
	maxKinds = 1000
)

// LogSampler bounds the log lines of calls that fail because of the service or the gateway, and of requests that are refused. The zero
// value can be used. It is safe for concurrent use.
type LogSampler struct {
	most int // lines of a kind; MaxLines if 0

	mu    sync.Mutex
	kinds map[lineKind]sampleSpan
}

// lineKind is what lines that say much the same have in common: API and outcome of calls, method and status of refused requests, with
// the code of malformed ones.
type lineKind struct{ subject, outcome string }

// sampleSpan is a time in which lines of a kind are counted.
type sampleSpan struct {
	since time.Time
	lines int
}

// Sampled says whether an event is logged.
type Sampled struct {
	Logged bool
	last   bool // the last one for now
	untold int  // how many were not logged in the span before
}

// Attrs adds to the attributes of a line how many lines were left out before it, and that the next ones are; such says which, and which metric counts
// them.
func (l Sampled) Attrs(attrs []slog.Attr, such string) []slog.Attr {
	if l.untold > 0 {
		attrs = append(attrs, slog.Int("untold_before", l.untold))
	}
	if l.last {
		attrs = append(attrs, slog.String("more", "for a minute such "+such))
	}
	return attrs
}

// Sample counts an event and decides whether it is logged.
func (f *LogSampler) Sample(subject, outcome string, now time.Time) Sampled {
	f.mu.Lock()
	defer f.mu.Unlock()
	most := cmp.Or(f.most, MaxLines)
	kind := lineKind{subject, outcome}
	untold := 0
	span, ok := f.kinds[kind]
	if !ok || now.Sub(span.since) >= SampleSpan {
		untold = max(0, span.lines-most)
		span = sampleSpan{since: now}
		if f.kinds == nil {
			f.kinds = map[lineKind]sampleSpan{}
		}
		if !ok && len(f.kinds) >= maxKinds {
			for k, s := range f.kinds {
				if now.Sub(s.since) >= SampleSpan {
					delete(f.kinds, k)
				}
			}
		}
	}
	span.lines++
	f.kinds[kind] = span
	return Sampled{Logged: span.lines <= most, last: span.lines == most, untold: untold}
}
