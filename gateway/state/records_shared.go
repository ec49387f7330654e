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
	// maxSharedRecord is the most bytes of a value in Redis, as it is sealed. A larger one stays in the replica that has put it.
	maxSharedRecord = 2 << 20
	// sealedHead is more than what sealing adds to a record beside a third of it.
	sealedHead = 64
	// recordsPerOwner and recordsInAll bound the bytes that this process has in Redis of one owner, and of all. What is beyond stays in
	// the replica that has put it.
	recordsPerOwner = 16 << 20
	recordsInAll    = 128 << 20
)

// putScript keeps a record if the number of what stands there is not above one, or returns that. An owner with too many loses those that end
// first. It is given the value with its number in front, how long it lives, the most records of the owner, the record's name without the prefix,
// the prefix, the most bytes of what it returns, and the highest number that may stand there, or "any". When it ends is told by the clock of Redis
// alone, which may differ from those of replicas.
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

// nothing is the number of what stands where nothing does: lower than all.
const nothing = -1

// SharedRecords is [Records] that replicas share. Each keeps what it has put or got by itself, too: it has it while Redis is away, and brings it
// back to one that has lost it. Of two values of a name it is that with the higher number which counts, whatever the clocks of replicas say, and
// of two with the same that in Redis; where neither was made of the other they are merged. Names can't be guessed. What is in Redis is sealed, and bound to its name: what was written by somebody else, or belongs to another
// name, is as good as not there.
type SharedRecords struct {
	s        *Shared
	local    *LocalRecords // of what [numbered.plain] makes
	kind     string
	perOwner int
	ledger   *ledger
	told     func(ctx context.Context, name string)
	merge    func(value, other []byte) []byte
	doubted  atomic.Bool // Redis may have lost what it had

	// mu is held from the moment that a number is read in local until the one after it, or above it, stands there.
	mu     sync.Mutex
	untold map[string]struct{} // names of what Redis does not have
}

// Records returns records that replicas share; kind, a word, separates those of one use from all others. It is for the time before [Shared.Run].
// While Redis is away each replica has those that it has put or got, in local, and can't tell of others: [ErrAway]. What it puts meanwhile is in
// Redis within a second when that is back, and so is what Redis had and has lost.
func (s *Shared) Records(kind string, local *LocalRecords) *SharedRecords {
	r := &SharedRecords{s: s, local: local, kind: kind, perOwner: local.limits.PerOwner, told: func(context.Context, string) {},
		merge: func(value, _ []byte) []byte { return value }, ledger: newLedger(recordsInAll, recordsPerOwner, s.o.Now), untold: make(map[string]struct{})}
	s.repeated = append(s.repeated, r.tellAgain)
	s.doubted(func() { r.doubted.Store(true) })
	return r
}

// Told has f called with each name whose record has come to Redis later than it was put: others may wait for it. It is for the time before
// [Shared.Run].
func (r *SharedRecords) Told(f func(ctx context.Context, name string)) { r.told = f }

// Merge has f add to a value what must not be lost of another, which a replica has put that did not know of the first. f returns the value as it is
// where there is nothing to add, as there is not if one was made of the other. Without f nothing is added. It is for the time before [Shared.Run].
func (r *SharedRecords) Merge(f func(value, other []byte) []byte) { r.merge = f }

// tellAgain puts into Redis what could not be put there, and what it has lost.
func (r *SharedRecords) tellAgain(ctx context.Context) {
	r.findLost(ctx)
	r.mu.Lock()
	waiting := slices.Collect(maps.Keys(r.untold))
	r.mu.Unlock()
	for _, name := range waiting {
		r.mu.Lock()
		delete(r.untold, name) // what is put from now on may fail again
		rec, here := r.here(ctx, name)
		r.mu.Unlock()
		if !here {
			continue
		}
		if _, err := r.agree(ctx, name, rec, nothing); err != nil {
			return // the rest waits, too
		}
		r.told(ctx, name)
	}
}

// later notes that Redis does not have the record of a name.
func (r *SharedRecords) later(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.untold) < maxUntold && !r.s.alone() {
		r.untold[name] = struct{}{}
	}
}

// names are those of a record, which can't be guessed, and of the list of its owner's; the second is "" for nobody's.
func (r *SharedRecords) names(name, owner string) (record, owned string) {
	record = r.s.name(r.kind, digest(name))
	if owner != "" {
		owned = r.s.name(r.kind+"-of", r.s.pseudonym(owner))
	}
	return record, owned
}

// open reads what stands in Redis under the name of a record.
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

// here returns what this replica knows of a name.
func (r *SharedRecords) here(ctx context.Context, name string) (numbered, bool) {
	plain, ok, _ := r.local.Get(ctx, name)
	if !ok {
		return numbered{}, false
	}
	return parseRecord(plain)
}

// Put implements [Records]. The error is always nil: without Redis the record stays here.
func (r *SharedRecords) Put(ctx context.Context, name, owner string, value []byte, until time.Time) error {
	r.replace(ctx, name, numbered{owner: owner, value: value, until: until})
	return nil
}

// Settle implements [Records]. The error is always nil: without Redis the record stays here. Of two that settle a name without Redis it is the first
// to reach it that has.
func (r *SharedRecords) Settle(ctx context.Context, name, owner string, value []byte, until time.Time) error {
	r.replace(ctx, name, numbered{number: settled, owner: owner, value: value, until: until})
	return nil
}

// replace keeps a record in place of what is known here, or if nothing is, of what stands in Redis.
func (r *SharedRecords) replace(ctx context.Context, name string, rec numbered) {
	for range 2 {
		known, over, ok := r.follow(ctx, name, &rec)
		switch {
		case !ok:
			return
		case known:
			_, _ = r.agree(ctx, name, rec, over) // what could not be told is told later
			return
		}
		theirs, kept, err := r.put(ctx, name, rec, over)
		if kept || err != nil {
			return
		}
		r.take(ctx, name, theirs)
	}
}

// follow gives a record that does not settle its name the number after that of what is known here, and keeps it here; false: the name is settled.
// over is the highest number of what it was made of that may stand in Redis.
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
	if _, untold := r.untold[name]; untold {
		return known, nothing, true
	}
	return known, rec.number - 1, true
}

// take keeps here what stands in Redis; false: what is here is newer, or is not known there.
func (r *SharedRecords) take(ctx context.Context, name string, theirs numbered) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, untold := r.untold[name]
	if mine, here := r.here(ctx, name); here && (mine.number > theirs.number || untold) {
		return false
	}
	_ = r.local.Put(ctx, name, theirs.owner, theirs.plain(), theirs.until)
	return true
}

// Add implements [Records]. While Redis is away it is what is here that counts.
func (r *SharedRecords) Add(ctx context.Context, name, owner string, value []byte, until time.Time) (bool, error) {
	rec := numbered{number: 1, owner: owner, value: value, until: until}
	if added, _ := r.local.Add(ctx, name, owner, rec.plain(), until); !added {
		return false, nil
	}
	theirs, kept, err := r.put(ctx, name, rec, nothing)
	if kept || err != nil {
		return true, nil
	}
	r.take(ctx, name, theirs)
	return false, nil
}

// put keeps a record in Redis in place of one whose number is not above over, or returns what stands there.
func (r *SharedRecords) put(ctx context.Context, name string, rec numbered, over int64) (theirs numbered, kept bool, err error) {
	life := rec.until.Sub(r.s.o.Now()).Milliseconds()
	if life <= 0 {
		return rec, true, nil
	}
	plain := rec.plain()
	record, owned := r.names(name, rec.owner)
	if size := 4*len(plain)/3 + sealedHead; size > maxSharedRecord || !r.ledger.take(record, rec.owner, size, rec.until) {
		return rec, true, nil
	}
	keys := []string{record}
	if owned != "" {
		keys = append(keys, owned)
	}
	text, prefix := withNumber(rec.number, r.s.o.Seal.Seal(plain, []byte(record))), r.s.name(r.kind, "")
	for most := strconv.FormatInt(over, 10); ; most = "any" { // what does not open is not there
		var stands string
		err := r.s.do(context.WithoutCancel(ctx), useRecords, func(ctx context.Context, c *redis.Client) (err error) { // who has changed it may have left
			stands, err = putScript.Run(ctx, c, keys, text, life, r.perOwner, record[len(prefix):], prefix, maxSharedRecord, most).Text()
			return err
		})
		if err == nil && stands == "" {
			return rec, true, nil
		}
		if err != nil {
			r.ledger.drop(record)
			r.later(name)
			return rec, false, err
		}
		if theirs, ok := r.open(record, stands); ok {
			r.ledger.drop(record)
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
		stands, err = c.GetRange(ctx, record, 0, maxSharedRecord).Result() // whatever is there, it is not read beyond
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
	case stands != "" && !there: // it may be a later one, sealed with a key that is not here yet
		r.s.failures[useRecords].Inc()
		return mine.value, here, nil
	case there && r.take(ctx, name, theirs):
		return theirs.value, true, nil
	}
	if mine, here = r.here(ctx, name); here { // Redis has lost it, or was away when it was put
		mine, _ = r.agree(ctx, name, mine, nothing)
	}
	return mine.value, here, nil
}
