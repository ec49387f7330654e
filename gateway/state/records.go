package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// RecordLimits bound [Records]. The zero value of each has the default.
type RecordLimits struct {
	// Names is the most records; 0: 16,384.
	Names int
	// Bytes is the most bytes of all values; 0: 64 MiB.
	Bytes int
	// PerOwner is the most records of one owner; 0: 1,024. The owner "" is many, and has no bound of its own.
	PerOwner int
}

// Records keeps values under names until their time, in memory. It is bounded: when there are too many, the one that has not
// been asked for the longest is forgotten, and of an owner with too many one of its own. Safe for concurrent use.
type Records struct {
	limits RecordLimits
	now    func() time.Time

	mu     sync.Mutex
	names  map[string]*list.Element
	order  *list.List            // of *record; the most recently used in front
	owners map[string]*list.List // the same for the records of one owner
	bytes  int
}

type record struct {
	name, owner string
	value       []byte
	until       time.Time
	own         *list.Element // in the list of its owner; nil: it has none
}

// NewRecords makes a store. now is the clock; nil: time.Now.
func NewRecords(l RecordLimits, now func() time.Time) *Records {
	orElse(&l.Names, 1<<14)
	orElse(&l.Bytes, 64<<20)
	orElse(&l.PerOwner, 1<<10)
	if now == nil {
		now = time.Now
	}
	return &Records{limits: l, now: now, names: make(map[string]*list.Element), order: list.New(), owners: make(map[string]*list.List)}
}

func orElse(n *int, standard int) {
	if *n <= 0 {
		*n = standard
	}
}

// Put keeps a value, which must not be written to any more, in place of one that was there. The error is always nil: memory
// does not fail.
func (r *Records) Put(_ context.Context, name, owner string, value []byte, until time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.names[name]; ok {
		r.remove(e)
	}
	if !until.After(r.now()) || len(value) > r.limits.Bytes {
		return nil
	}
	rec := &record{name: name, owner: owner, value: value, until: until}
	if owner != "" {
		if r.owners[owner] == nil {
			r.owners[owner] = list.New()
		}
		if own := r.owners[owner]; own.Len() >= r.limits.PerOwner {
			r.remove(r.names[own.Back().Value.(*record).name]) //nolint:errcheck // the list holds nothing else
			if r.owners[owner] == nil {
				r.owners[owner] = list.New()
			}
		}
		rec.own = r.owners[owner].PushFront(rec)
	}
	r.names[name] = r.order.PushFront(rec)
	for r.bytes += len(value); r.bytes > r.limits.Bytes || r.order.Len() > r.limits.Names; {
		r.remove(r.order.Back())
	}
	return nil
}

// Get returns the value of a name; false if there is none, or its time has passed. It must not be written to.
func (r *Records) Get(_ context.Context, name string) (value []byte, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.names[name]
	if !ok {
		return nil, false, nil
	}
	rec := e.Value.(*record) //nolint:errcheck // the list holds nothing else
	if !rec.until.After(r.now()) {
		r.remove(e)
		return nil, false, nil
	}
	r.order.MoveToFront(e)
	if rec.own != nil {
		r.owners[rec.owner].MoveToFront(rec.own)
	}
	return rec.value, true, nil
}

// Len returns the number of records held, those included whose time has passed but that nobody has asked for since.
func (r *Records) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.Len()
}

func (r *Records) remove(e *list.Element) {
	rec := r.order.Remove(e).(*record) //nolint:errcheck // the list holds nothing else
	delete(r.names, rec.name)
	r.bytes -= len(rec.value)
	if rec.own != nil {
		own := r.owners[rec.owner]
		own.Remove(rec.own)
		if own.Len() == 0 {
			delete(r.owners, rec.owner)
		}
	}
}
