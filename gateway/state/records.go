package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Records keeps values under names until their time. It is safe for concurrent use, and nobody needs to retry.
type Records interface {
	// Put keeps a value, which must not be written to any more, in place of one that was there. What others have put may be
	// forgotten for it; owner is who pays, "" for nobody in particular. A value that can't be kept is not an error: it is forgotten at once.
	Put(ctx context.Context, name, owner string, value []byte, until time.Time) error
	// Settle is Put for the last value of a name: as long as it is there no other takes its place.
	Settle(ctx context.Context, name, owner string, value []byte, until time.Time) error
	// Add is Put for a name that has no value: if it has one, that stays, and the result is false. Of two that add at the same
	// time one gets false.
	Add(ctx context.Context, name, owner string, value []byte, until time.Time) (bool, error)
	// Get returns the value of a name, which must not be written to; false if there is none, or its time has passed. An error
	// says that this can't be told now: the value may be where it can't be reached.
	Get(ctx context.Context, name string) (value []byte, ok bool, err error)
}

// RecordLimits bound [LocalRecords]. The zero value of each has the default.
type RecordLimits struct {
	// Names is the most records; 0: 16,384.
	Names int
	// Bytes is the most bytes of all values; 0: 64 MiB.
	Bytes int
	// PerOwner is the most records of one owner; 0: 1,024. The owner "" is many, and has no bound of its own.
	PerOwner int
}

// LocalRecords is [Records] in the memory of one process. It is bounded: when there are too many, the one that has not
// been asked for the longest is forgotten, and of an owner with too many one of its own. Its errors are always nil: memory does not fail.
type LocalRecords struct {
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
	settled     bool
	own         *list.Element // in the list of its owner; nil: it has none
}

// NewLocalRecords makes a store. now is the clock; nil: time.Now.
func NewLocalRecords(l RecordLimits, now func() time.Time) *LocalRecords {
	orElse(&l.Names, 1<<14)
	orElse(&l.Bytes, 64<<20)
	orElse(&l.PerOwner, 1<<10)
	if now == nil {
		now = time.Now
	}
	return &LocalRecords{limits: l, now: now, names: make(map[string]*list.Element), order: list.New(), owners: make(map[string]*list.List)}
}

func orElse(n *int, standard int) {
	if *n <= 0 {
		*n = standard
	}
}

// Put implements [Records].
func (r *LocalRecords) Put(_ context.Context, name, owner string, value []byte, until time.Time) error {
	r.replace(&record{name: name, owner: owner, value: value, until: until})
	return nil
}

// Settle implements [Records].
func (r *LocalRecords) Settle(_ context.Context, name, owner string, value []byte, until time.Time) error {
	r.replace(&record{name: name, owner: owner, value: value, until: until, settled: true})
	return nil
}

// Add implements [Records].
func (r *LocalRecords) Add(_ context.Context, name, owner string, value []byte, until time.Time) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.names[name]; ok {
		if e.Value.(*record).until.After(r.now()) { //nolint:errcheck // the list holds nothing else
			return false, nil
		}
		r.remove(e)
	}
	r.put(&record{name: name, owner: owner, value: value, until: until})
	return true, nil
}

// replace keeps a record in place of one that is not settled.
func (r *LocalRecords) replace(rec *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.names[rec.name]; ok {
		if old := e.Value.(*record); old.settled && old.until.After(r.now()) { //nolint:errcheck // the list holds nothing else
			return
		}
		r.remove(e)
	}
	r.put(rec)
}

// put keeps a record whose name has none.
func (r *LocalRecords) put(rec *record) {
	if !rec.until.After(r.now()) || len(rec.value) > r.limits.Bytes {
		return
	}
	if rec.owner != "" {
		if r.owners[rec.owner] == nil {
			r.owners[rec.owner] = list.New()
		}
		if own := r.owners[rec.owner]; own.Len() >= r.limits.PerOwner {
			r.remove(r.names[own.Back().Value.(*record).name]) //nolint:errcheck // the list holds nothing else
			if r.owners[rec.owner] == nil {
				r.owners[rec.owner] = list.New()
			}
		}
		rec.own = r.owners[rec.owner].PushFront(rec)
	}
	r.names[rec.name] = r.order.PushFront(rec)
	for r.bytes += len(rec.value); r.bytes > r.limits.Bytes || r.order.Len() > r.limits.Names; {
		r.remove(r.order.Back())
	}
}

// Get implements [Records].
func (r *LocalRecords) Get(_ context.Context, name string) (value []byte, ok bool, err error) {
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

// each calls f with what is held and its value, and asks for none of it.
func (r *LocalRecords) each(f func(name string, value []byte)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	for name, e := range r.names {
		if rec := e.Value.(*record); rec.until.After(now) { //nolint:errcheck // the list holds nothing else
			f(name, rec.value)
		}
	}
}

// Len returns the number of records held, those included whose time has passed but that nobody has asked for since.
func (r *LocalRecords) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.order.Len()
}

func (r *LocalRecords) remove(e *list.Element) {
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
