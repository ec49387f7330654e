package state

import (
	"sync"
	"time"
)

// quota limits the bytes that this process has stored in Redis for one use, in total and per
// owner, so that no use takes the memory of others. The replicas together can store that much each.
// It is safe for concurrent use.
type quota struct {
	all, perOwner int64
	now           func() time.Time

	mu      sync.Mutex
	total   int64
	entries map[string]quotaEntry // by name
	owners  map[string]int64
	swept   time.Time
}

// quotaEntry is a stored value.
type quotaEntry struct {
	owner string
	bytes int64
	until time.Time
}

const (
	// quotaName is the approximate overhead in Redis of a name.
	quotaName = 120
	// quotaSweep is the minimum time between two removals of expired entries when the limit is
	// reached.
	quotaSweep = time.Second
)

func newQuota(all, perOwner int64, now func() time.Time) *quota {
	return &quota{all: all, perOwner: perOwner, now: now, entries: make(map[string]quotaEntry), owners: make(map[string]int64)}
}

// reserve records a value that is stored under a name until a time, and replaces an earlier one. It
// returns false if the limit is reached, and then the value must not be stored. The owner "" has no
// limit of its own, because many callers share it.
func (l *quota) reserve(name, owner string, bytes int, until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := quotaEntry{owner, int64(bytes) + quotaName, until}
	old, again := l.entries[name]
	if again {
		l.remove(name, old)
	}
	if !l.fits(d) {
		if now := l.now(); now.Sub(l.swept) >= quotaSweep {
			l.swept = now
			for other, d := range l.entries {
				if !now.Before(d.until) {
					l.remove(other, d)
				}
			}
		}
		if !l.fits(d) {
			if again { // it is still stored
				l.add(name, old)
			}
			return false
		}
	}
	l.add(name, d)
	return true
}

// drop records that nothing is stored under a name.
func (l *quota) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d, ok := l.entries[name]; ok {
		l.remove(name, d)
	}
}

// resize changes the limits. Existing entries remain until they expire.
func (l *quota) resize(all, perOwner int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.perOwner = all, perOwner
}

func (l *quota) fits(d quotaEntry) bool {
	return l.total+d.bytes <= l.all && (d.owner == "" || l.owners[d.owner]+d.bytes <= l.perOwner)
}

func (l *quota) add(name string, d quotaEntry) {
	l.entries[name] = d
	l.total += d.bytes
	if d.owner != "" {
		l.owners[d.owner] += d.bytes
	}
}

func (l *quota) remove(name string, d quotaEntry) {
	delete(l.entries, name)
	l.total -= d.bytes
	if d.owner == "" {
		return
	}
	if l.owners[d.owner] -= d.bytes; l.owners[d.owner] <= 0 {
		delete(l.owners, d.owner)
	}
}
