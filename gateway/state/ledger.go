package state

import (
	"sync"
	"time"
)

// ledger bounds what this process has put into Redis for one use and is still there, in all and for each owner, in bytes: the room
// there is that of all uses, and who fills it takes it from rates and proofs. What replicas have put together is at most as much for
// each of them. It is safe for concurrent use.
type ledger struct {
	all, perOwner int64
	now           func() time.Time

	mu     sync.Mutex
	total  int64
	debts  map[string]debt // by name
	owners map[string]int64
	swept  time.Time
}

// debt is what stands under a name.
type debt struct {
	owner string
	bytes int64
	until time.Time
}

const (
	// ledgerName is about what Redis needs for a name beside its value.
	ledgerName = 120
	// ledgerSweep is how often it is looked for what has ended, when there is no room.
	ledgerSweep = time.Second
)

func newLedger(all, perOwner int64, now func() time.Time) *ledger {
	return &ledger{all: all, perOwner: perOwner, now: now, debts: make(map[string]debt), owners: make(map[string]int64)}
}

// take enters what is put under a name until a time, in place of what stood there; false: there is no room, and it is not to be put.
// The owner "" is many, and has no bound of its own.
func (l *ledger) take(name, owner string, bytes int, until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := debt{owner, int64(bytes) + ledgerName, until}
	old, again := l.debts[name]
	if again {
		l.pay(name, old)
	}
	if !l.fits(d) {
		if now := l.now(); now.Sub(l.swept) >= ledgerSweep {
			l.swept = now
			for other, d := range l.debts {
				if !now.Before(d.until) {
					l.pay(other, d)
				}
			}
		}
		if !l.fits(d) {
			if again { // it stands there still
				l.enter(name, old)
			}
			return false
		}
	}
	l.enter(name, d)
	return true
}

// drop notes that nothing stands under a name.
func (l *ledger) drop(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d, ok := l.debts[name]; ok {
		l.pay(name, d)
	}
}

// resize changes the bounds. What is there stays until its time.
func (l *ledger) resize(all, perOwner int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.perOwner = all, perOwner
}

func (l *ledger) fits(d debt) bool {
	return l.total+d.bytes <= l.all && (d.owner == "" || l.owners[d.owner]+d.bytes <= l.perOwner)
}

func (l *ledger) enter(name string, d debt) {
	l.debts[name] = d
	l.total += d.bytes
	if d.owner != "" {
		l.owners[d.owner] += d.bytes
	}
}

func (l *ledger) pay(name string, d debt) {
	delete(l.debts, name)
	l.total -= d.bytes
	if d.owner == "" {
		return
	}
	if l.owners[d.owner] -= d.bytes; l.owners[d.owner] <= 0 {
		delete(l.owners, d.owner)
	}
}
