package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Tombstones remembers, in memory, names that must not be honoured again before
// their time has passed. It is bounded: when it is full, the name that has not been
// asked for the longest is forgotten. Safe for concurrent use.
type Tombstones struct {
	max int
	now func() time.Time

	mu    sync.Mutex
	names map[string]*list.Element
	order *list.List // of tombstone; the most recently used in front
}

type tombstone struct {
	name  string
	until time.Time
}

// NewTombstones makes a store for at most max names; 0: 65,536, which take about
// 12 MB. now is the clock; nil: time.Now.
func NewTombstones(max int, now func() time.Time) *Tombstones {
	if max <= 0 {
		max = 1 << 16
	}
	if now == nil {
		now = time.Now
	}
	return &Tombstones{max: max, now: now, names: make(map[string]*list.Element), order: list.New()}
}

// Revoke remembers name until the given time. A name that is known already keeps
// the later of both times. The error is always nil: memory does not fail.
func (t *Tombstones) Revoke(_ context.Context, _, name string, until time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !until.After(t.now()) {
		return nil
	}
	if e, ok := t.names[name]; ok {
		if s := e.Value.(*tombstone); until.After(s.until) { //nolint:errcheck // the list holds nothing else
			s.until = until
		}
		t.order.MoveToFront(e)
		return nil
	}
	for t.order.Len() >= t.max {
		t.remove(t.order.Back())
	}
	t.names[name] = t.order.PushFront(&tombstone{name: name, until: until})
	return nil
}

// Revoked tells whether name was revoked and its time has not passed.
func (t *Tombstones) Revoked(_ context.Context, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, ok := t.names[name]
	if !ok {
		return false
	}
	if s := e.Value.(*tombstone); !s.until.After(t.now()) { //nolint:errcheck // the list holds nothing else
		t.remove(e)
		return false
	}
	t.order.MoveToFront(e)
	return true
}

// Len returns the number of names held, those included whose time has passed but
// that nobody has asked for since.
func (t *Tombstones) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.order.Len()
}

func (t *Tombstones) remove(e *list.Element) {
	delete(t.names, t.order.Remove(e).(*tombstone).name) //nolint:errcheck // the list holds nothing else
}
