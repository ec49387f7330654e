package state

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxSharedRecord is the maximum size of a sealed value in Redis. A larger one is stored only
	// by the replica that put it.
	maxSharedRecord = 2 << 20
	// sealedHead is an upper bound of the bytes that sealing adds, besides a third of the size.
	sealedHead = 64
	// recordsPerOwner and recordsInAll limit the bytes that this process has in Redis, per owner
	// and in total. Records beyond are stored only by the replica that put them.
	recordsPerOwner = 16 << 20
	recordsInAll    = 128 << 20
)

// putScript stores a record if the number of the existing one is not above a limit, and returns the
// existing one otherwise. An owner with too many records loses those that expire first. Its
// arguments are the value with its number in front, its lifetime, the maximum number of records of
// the owner, the record's name without the prefix, the prefix, the maximum size of what it returns,
// and the highest number that it replaces, or "any". Expiry uses the clock of Redis only, which may
// differ from those of replicas.
var putScript = redis.NewScript(`
if ARGV[7] ~= 'any' then
  local old = redis.pcall('GETRANGE', KEYS[1], 0, ARGV[6])
  if type(old) == 'string' and old ~= '' and (tonumber(string.sub(old, 1, 16)) or 0) > tonumber(ARGV[7]) then return old end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if KEYS[2] then
  if redis.call('TYPE', KEYS[2]).ok ~= 'zset' then redis.call('DEL', KEYS[2]) end
  local t = redis.call('TIME')
  local now = t[1] * 1000 + math.floor(t[2] / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  redis.call('ZADD', KEYS[2], now + ARGV[2], ARGV[4])
  local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[3])
  if over > 0 then
    local gone = redis.call('ZPOPMIN', KEYS[2], over)
    for i = 1, #gone, 2 do redis.call('DEL', ARGV[5] .. gone[i]) end
  end
  if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
end
return ''
`)

// absent is the number of an absent record: lower than all.
const absent = -1

// SharedRecords implements [Records] for all replicas. Each replica also stores what it has put or
// read locally, where it is available while Redis is not, and restores it in a Redis that has lost
// it. Of two values of a name the one with the higher number wins, regardless of clocks, and with
// equal numbers the one in Redis; if neither is derived from the other they are merged. Names can't
// be guessed. Values in Redis are sealed, and bound to their name: a value written by others, or
// moved to another name, is ignored.
type SharedRecords struct {
	s           *Shared
	local       *LocalRecords // encoded by [numbered.plain]
	kind        string
	perOwner    int
	quota       *quota
	onPublished func(ctx context.Context, name string)
	merge       func(value, other []byte) []byte
	doubted     atomic.Bool // Redis may have lost data

	// mu is held from reading a number in local until a number at least one higher is stored there.
	mu      sync.Mutex
	pending map[string]struct{} // names of records that are missing in Redis
}

// Records returns records that replicas share; kind, a word, separates the records of each use. It
// must be called before [Shared.Run]. While Redis is unavailable each replica knows the records
// that it has put or read, in local, and returns [ErrAway] for others. Records that it puts meanwhile,
// and those that Redis has lost, are stored in Redis within a second after it is available again.
func (s *Shared) Records(kind string, local *LocalRecords) *SharedRecords {
	r := &SharedRecords{s: s, local: local, kind: kind, perOwner: local.limits.PerOwner, onPublished: func(context.Context, string) {},
		merge: func(value, _ []byte) []byte { return value }, quota: newQuota(recordsInAll, recordsPerOwner, s.o.Now), pending: make(map[string]struct{})}
	s.periodic = append(s.periodic, r.publishPending)
	s.onDoubt(func() { r.doubted.Store(true) })
	return r
}

// OnPublished registers f to be called with each name whose record was stored in Redis later than
// it was put, as others may wait for it. It must be called before [Shared.Run].
func (r *SharedRecords) OnPublished(f func(ctx context.Context, name string)) { r.onPublished = f }

// Merge registers f, which adds to a value what must not be lost of another, put by a replica that
// did not know the first. f returns the value unchanged if there is nothing to add, as is the case
// if one is derived from the other. Without f nothing is added. It must be called before
// [Shared.Run].
func (r *SharedRecords) Merge(f func(value, other []byte) []byte) { r.merge = f }

// publishPending stores in Redis what could not be stored before, and what it has lost.
func (r *SharedRecords) publishPending(ctx context.Context) {
	r.findLost(ctx)
	r.mu.Lock()
	waiting := slices.Collect(maps.Keys(r.pending))
	r.mu.Unlock()
	for _, name := range waiting {
		r.mu.Lock()
		delete(r.pending, name) // a concurrent Put may fail again
		rec, here := r.here(ctx, name)
		r.mu.Unlock()
		if !here {
			continue
		}
		if _, err := r.reconcile(ctx, name, rec, absent); err != nil {
			return // the rest waits, too
		}
		r.onPublished(ctx, name)
	}
}

// markPending records that Redis does not have the record of a name.
func (r *SharedRecords) markPending(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) < maxPending && !r.s.alone() {
		r.pending[name] = struct{}{}
	}
}

// names returns the names in Redis of a record, which can't be guessed, and of the list of its
// owner, "" without an owner.
func (r *SharedRecords) names(name, owner string) (record, owned string) {
	record = r.s.name(r.kind, digest(name))
	if owner != "" {
		owned = r.s.name(r.kind+"-of", r.s.pseudonym(owner))
	}
	return record, owned
}

// open opens a record from Redis.
func (r *SharedRecords) open(record, text string) (numbered, bool) {
	number, sealed, ok := cutNumber(text)
	if !ok {
		return numbered{}, false
	}
	plain, err := r.s.o.Seal.Open(sealed, []byte(record))
	if err != nil {
		return numbered{}, false
	}
	rec, ok := parseRecord(plain)
	return rec, ok && rec.number == number && rec.until.After(r.s.o.Now())
}

// here returns the locally stored record of a name.
func (r *SharedRecords) here(ctx context.Context, name string) (numbered, bool) {
	plain, ok, _ := r.local.Get(ctx, name)
	if !ok {
		return numbered{}, false
	}
	return parseRecord(plain)
}

// Put implements [Records]. The error is always nil: without Redis the record is stored locally.
func (r *SharedRecords) Put(ctx context.Context, name, owner string, value []byte, until time.Time) error {
	r.replace(ctx, name, numbered{owner: owner, value: value, until: until})
	return nil
}

// Settle implements [Records]. The error is always nil: without Redis the record is stored locally.
// Of two final records put without Redis the first to reach it wins.
func (r *SharedRecords) Settle(ctx context.Context, name, owner string, value []byte, until time.Time) error {
	r.replace(ctx, name, numbered{number: settled, owner: owner, value: value, until: until})
	return nil
}

// replace stores a record and replaces the one known here, or if there is none, the one in Redis.
func (r *SharedRecords) replace(ctx context.Context, name string, rec numbered) {
	for range 2 {
		known, over, ok := r.follow(ctx, name, &rec)
		switch {
		case !ok:
			return
		case known:
			_, _ = r.reconcile(ctx, name, rec, over) // what can't be published is published later
			return
		}
		theirs, kept, err := r.put(ctx, name, rec, over)
		if kept || err != nil {
			return
		}
		r.take(ctx, name, theirs)
	}
}

// follow numbers a record after the one known here, unless it is final, and stores it locally; it
// returns false if the name has a final record. over is the highest number in Redis that it may
// replace.
func (r *SharedRecords) follow(ctx context.Context, name string, rec *numbered) (known bool, over int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old, known := r.here(ctx, name)
	if old.number == settled {
		return known, 0, false
	}
	if rec.number != settled {
		rec.number = old.number + 1
	}
	_ = r.local.Put(ctx, name, rec.owner, rec.plain(), rec.until)
	if _, pending := r.pending[name]; pending {
		return known, absent, true
	}
	return known, rec.number - 1, true
}

// take stores a record of Redis locally; it returns false if the local one is newer, or is missing
// there.
func (r *SharedRecords) take(ctx context.Context, name string, theirs numbered) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, pending := r.pending[name]
	if mine, here := r.here(ctx, name); here && (mine.number > theirs.number || pending) {
		return false
	}
	_ = r.local.Put(ctx, name, theirs.owner, theirs.plain(), theirs.until)
	return true
}

// Add implements [Records]. While Redis is unavailable only local records count.
func (r *SharedRecords) Add(ctx context.Context, name, owner string, value []byte, until time.Time) (bool, error) {
	rec := numbered{number: 1, owner: owner, value: value, until: until}
	if added, _ := r.local.Add(ctx, name, owner, rec.plain(), until); !added {
		return false, nil
	}
	theirs, kept, err := r.put(ctx, name, rec, absent)
	if kept || err != nil {
		return true, nil
	}
	r.take(ctx, name, theirs)
	return false, nil
}

// put stores a record in Redis and replaces one whose number is not above over, or returns the
// existing one.
func (r *SharedRecords) put(ctx context.Context, name string, rec numbered, over int64) (theirs numbered, kept bool, err error) {
	life := rec.until.Sub(r.s.o.Now()).Milliseconds()
	if life <= 0 {
		return rec, true, nil
	}
	plain := rec.plain()
	record, owned := r.names(name, rec.owner)
	if size := 4*len(plain)/3 + sealedHead; size > maxSharedRecord || !r.quota.reserve(record, rec.owner, size, rec.until) {
		return rec, true, nil
	}
	keys := []string{record}
	if owned != "" {
		keys = append(keys, owned)
	}
	text, prefix := withNumber(rec.number, r.s.o.Seal.Seal(plain, []byte(record))), r.s.name(r.kind, "")
	for most := strconv.FormatInt(over, 10); ; most = "any" { // what does not open is ignored
		var stands string
		err := r.s.do(context.WithoutCancel(ctx), useRecords, func(ctx context.Context, c *redis.Client) (err error) { // the caller that changed it may have left
			stands, err = putScript.Run(ctx, c, keys, text, life, r.perOwner, record[len(prefix):], prefix, maxSharedRecord, most).Text()
			return err
		})
		if err == nil && stands == "" {
			return rec, true, nil
		}
		if err != nil {
			r.quota.drop(record)
			r.markPending(name)
			return rec, false, err
		}
		if theirs, ok := r.open(record, stands); ok {
			r.quota.drop(record)
			return theirs, false, nil
		}
		r.s.failures[useRecords].Inc()
	}
}

// Get implements [Records].
func (r *SharedRecords) Get(ctx context.Context, name string) ([]byte, bool, error) {
	mine, here := r.here(ctx, name)
	record, _ := r.names(name, "")
	var stands string
	err := r.s.do(ctx, useRecords, func(ctx context.Context, c *redis.Client) (err error) {
		stands, err = c.GetRange(ctx, record, 0, maxSharedRecord).Result() // never read more, whatever is stored
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		if here || r.s.alone() {
			return mine.value, here, nil
		}
		return nil, false, ErrAway
	}
	theirs, there := r.open(record, stands)
	switch {
	case stands != "" && !there: // it may be a newer one, sealed with a key that is not known here yet
		r.s.failures[useRecords].Inc()
		return mine.value, here, nil
	case there && r.take(ctx, name, theirs):
		return theirs.value, true, nil
	}
	if mine, here = r.here(ctx, name); here { // Redis has lost it, or was unavailable when it was put
		mine, _ = r.reconcile(ctx, name, mine, absent)
	}
	return mine.value, here, nil
}
