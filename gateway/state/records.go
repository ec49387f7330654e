package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Records stores values under names until they expire. It is safe for concurrent use, and callers
// need not retry.
type Records interface {
	// Put stores a value, which must not be modified any more, and replaces an existing one. It may
	// evict other values; owner is charged for it, "" for no particular one. A value that can't be
	// stored is not an error: it is dropped at once.
	Put(ctx context.Context, name, owner string, value []byte, until time.Time) error
	// Settle is Put for the final value of a name: no other value replaces it before it expires.
	Settle(ctx context.Context, name, owner string, value []byte, until time.Time) error
	// Add is Put for a name without a value: if it has one, that stays, and the result is false. Of
	// two concurrent calls one gets false.
	Add(ctx context.Context, name, owner string, value []byte, until time.Time) (bool, error)
	// Get returns the value of a name, which must not be modified; false if there is none, or it
	// has expired. An error means that the answer is unknown: the value may be in the unavailable
	// store.
	Get(ctx context.Context, name string) (value []byte, ok bool, err error)
}

// RecordLimits limit [LocalRecords]. Each zero value means the default.
type RecordLimits struct {
	// Names is the maximum number of records; 16,384 by default.
	Names int
	// Bytes is the maximum size of all values; 64 MiB by default.
	Bytes int
	// PerOwner is the maximum number of records of one owner; 1,024 by default. The owner "" has no
	// limit of its own, because many callers share it.
	PerOwner int
}

// LocalRecords implements [Records] in the memory of one process. Beyond its limits it evicts the
// least recently used record, and for an owner with too many one of its own. Its errors are always
// nil.
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
	own         *list.Element // in the list of its owner; nil if it has none
}

// NewLocalRecords returns an empty store. now is the clock, time.Now if nil.
func NewLocalRecords(l RecordLimits, now func() time.Time) *LocalRecords {
	setDefault(&l.Names, 1<<14)
	setDefault(&l.Bytes, 64<<20)
	setDefault(&l.PerOwner, 1<<10)
	if now == nil {
		now = time.Now
	}
	return &LocalRecords{limits: l, now: now, names: make(map[string]*list.Element), order: list.New(), owners: make(map[string]*list.List)}
}

func setDefault(n *int, standard int) {
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

// replace stores a record and replaces one that is not final.
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

// put stores a record whose name has none.
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

// each calls f with each record, without affecting the eviction order.
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
