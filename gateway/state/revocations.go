package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Revocations tracks names that must not be honored again before they expire. It is safe for
// concurrent use.
type Revocations interface {
	// Revoke stores name until the given time. owner is the principal that it belongs to, and must
	// not be able to exhaust the capacity that others need.
	Revoke(ctx context.Context, owner, name string, until time.Time) error
	// Revoked reports whether name was revoked and has not expired.
	Revoked(ctx context.Context, name string) bool
}

// Tombstones implements [Revocations]: it remembers, in memory, names that must not be honored again before they expire. It is
// bounded: an owner that has its share, or that comes when all is full, loses its own least
// recently used name, so that no owner can evict the names of another. Only the first name of an
// owner evicts another's when all is full. It is safe for concurrent use.
type Tombstones struct {
	max, share int
	now        func() time.Time

	mu     sync.Mutex
	names  map[string]*tombstone
	owners map[string]*tombstoneOwner
	order  *list.List // of *tombstone; the most recently used in front
}

type tombstone struct {
	owner    *tombstoneOwner
	name     string
	until    time.Time
	all, own *list.Element // in Tombstones.order and in owner.order
}

// tombstoneOwner holds the names of one owner.
type tombstoneOwner struct {
	name  string
	order *list.List // of *tombstone; the most recently used in front
}

// NewTombstones returns a store for at most max names; 0 means 65,536, which take about 20 MB. An
// owner has at most a sixteenth of them. now is the clock, time.Now if nil.
func NewTombstones(max int, now func() time.Time) *Tombstones {
	if max <= 0 {
		max = 1 << 16
	}
	if now == nil {
		now = time.Now
	}
	return &Tombstones{max: max, share: (max + 15) / 16, now: now,
		names: make(map[string]*tombstone), owners: make(map[string]*tombstoneOwner), order: list.New()}
}

// Revoke remembers name until the given time. A known name keeps the later expiry. The owner "" is
// unknown, and has no share limit: it is used for names from other replicas, which Redis knows as
// well, and for callers without a token. The error is always nil.
func (t *Tombstones) Revoke(_ context.Context, owner, name string, until time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !until.After(t.now()) {
		return nil
	}
	if s, ok := t.names[name]; ok {
		if until.After(s.until) {
			s.until = until
		}
		t.use(s)
		return nil
	}
	o := t.owners[owner]
	switch {
	case o != nil && (len(t.names) >= t.max || owner != "" && o.order.Len() >= t.share):
		t.remove(o.order.Back())
	case len(t.names) >= t.max:
		t.remove(t.order.Back())
	}
	if o = t.owners[owner]; o == nil { // it may have had a single name
		o = &tombstoneOwner{name: owner, order: list.New()}
		t.owners[owner] = o
	}
	s := &tombstone{owner: o, name: name, until: until}
	s.all, s.own = t.order.PushFront(s), o.order.PushFront(s)
	t.names[name] = s
	return nil
}

// Revoked reports whether name was revoked and has not expired.
func (t *Tombstones) Revoked(_ context.Context, name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := t.names[name]
	if !ok {
		return false
	}
	if !s.until.After(t.now()) {
		t.remove(s.all)
		return false
	}
	t.use(s)
	return true
}

func (t *Tombstones) use(s *tombstone) {
	t.order.MoveToFront(s.all)
	s.owner.order.MoveToFront(s.own)
}

func (t *Tombstones) remove(e *list.Element) {
	s := e.Value.(*tombstone) //nolint:errcheck // the lists hold nothing else
	t.order.Remove(s.all)
	s.owner.order.Remove(s.own)
	delete(t.names, s.name)
	if s.owner.order.Len() == 0 {
		delete(t.owners, s.owner.name)
	}
}
