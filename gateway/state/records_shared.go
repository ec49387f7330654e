package state

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxSharedRecord is the most bytes of a value in Redis, as it is sealed. A larger one stays in the replica that has put it.
	maxSharedRecord = 2 << 20
	// recordHead is the length of what stands before a value: when it was written, and when it ends, in milliseconds.
	recordHead = 16
	// sealedHead is more than what sealing adds to a value beside a third of it.
	sealedHead = 64
	// recordsPerOwner and recordsInAll bound the bytes that this process has in Redis of one owner, and of all. What is beyond stays in
	// the replica that has put it.
	recordsPerOwner = 16 << 20
	recordsInAll    = 128 << 20
)

// putScript keeps a record, and has an owner with too many lose those that end first. It is given the value, how long it lives, the most
// records of the owner, the record's name without the prefix, the prefix, and 1 if it must be new. When it ends
// is told by the clock of Redis alone, which may differ from those of replicas.
var putScript = redis.NewScript(`
if ARGV[6] == '1' and redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
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
return 1
`)

// SharedRecords is [Records] that replicas share. Each keeps what it has put by itself, too: it has it while Redis is away, and
// brings it back to one that has lost it. Names can't be guessed. What is in Redis is sealed, and bound to its name: what was written by somebody else, or
// belongs to another name, is as good as not there. An older value of the same name can't be told from the last one but by
// who has put that.
type SharedRecords struct {
	s        *Shared
	local    *LocalRecords
	kind     string
	perOwner int
	ledger   *ledger
}

// Records returns records that replicas share; kind, a word, separates those of one use from all others. While Redis is away each
// replica has those that it has put, in local, and can't tell of others: [ErrAway].
func (s *Shared) Records(kind string, local *LocalRecords) *SharedRecords {
	return &SharedRecords{s: s, local: local, kind: kind, perOwner: local.limits.PerOwner,
		ledger: newLedger(recordsInAll, recordsPerOwner, s.o.Now)}
}

// names are those of a record, which can't be guessed, and of the list of its owner's; the second is "" for nobody's.
func (r *SharedRecords) names(name, owner string) (record, owned string) {
	record = r.s.name(r.kind, digest(name))
	if owner != "" {
		owned = r.s.name(r.kind+"-of", r.s.pseudonym(owner))
	}
	return record, owned
}

// head makes what is kept of a value.
func (r *SharedRecords) head(value []byte, until time.Time) []byte {
	dst := make([]byte, 0, recordHead+len(value))
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.s.o.Now().UnixMilli())) //nolint:gosec // after 1970
	dst = binary.BigEndian.AppendUint64(dst, uint64(until.UnixMilli()))       //nolint:gosec // after 1970
	return append(dst, value...)
}

// kept is a value as it was put.
type keptRecord struct {
	value          []byte
	written, until time.Time
}

// parseRecord reads what head has made; false: it was not.
func parseRecord(plain []byte) (rec keptRecord, ok bool) {
	if len(plain) < recordHead {
		return rec, false
	}
	const most = 1 << 50 // milliseconds: no time in them overflows
	written, until := binary.BigEndian.Uint64(plain), binary.BigEndian.Uint64(plain[8:])
	if written > most || until > most {
		return rec, false
	}
	return keptRecord{plain[recordHead:], time.UnixMilli(int64(written)), time.UnixMilli(int64(until))}, true //nolint:gosec // bounded above
}

// open reads what stands in Redis under the name of a record.
func (r *SharedRecords) open(record, sealed string) (keptRecord, bool) {
	plain, err := r.s.o.Seal.Open(sealed, []byte(record))
	if err != nil {
		return keptRecord{}, false
	}
	rec, ok := parseRecord(plain)
	return rec, ok && rec.until.After(r.s.o.Now())
}

// Put implements [Records]. The error is always nil: without Redis the record stays here.
func (r *SharedRecords) Put(ctx context.Context, name, owner string, value []byte, until time.Time) error {
	plain := r.head(value, until)
	_ = r.local.Put(ctx, name, owner, plain, until)
	_, _ = r.put(ctx, name, owner, plain, until, false)
	return nil
}

// Add implements [Records]. While Redis is away it is what is here that counts.
func (r *SharedRecords) Add(ctx context.Context, name, owner string, value []byte, until time.Time) (bool, error) {
	plain := r.head(value, until)
	if added, _ := r.local.Add(ctx, name, owner, plain, until); !added {
		return false, nil
	}
	if added, err := r.put(ctx, name, owner, plain, until, true); err == nil && !added {
		_ = r.local.Put(ctx, name, owner, nil, time.Time{})
		return false, nil
	}
	return true, nil
}

// put keeps a record in Redis; false: it must be new, and is not.
func (r *SharedRecords) put(ctx context.Context, name, owner string, plain []byte, until time.Time, fresh bool) (bool, error) {
	life := until.Sub(r.s.o.Now()).Milliseconds()
	if life <= 0 {
		return true, nil
	}
	record, owned := r.names(name, owner)
	if size := 4*len(plain)/3 + sealedHead; size > maxSharedRecord || !r.ledger.take(record, owner, size, until) {
		return true, nil
	}
	sealed := r.s.o.Seal.Seal(plain, []byte(record))
	keys := []string{record}
	if owned != "" {
		keys = append(keys, owned)
	}
	prefix := r.s.name(r.kind, "")
	var kept int64
	err := r.s.do(context.WithoutCancel(ctx), useRecords, func(ctx context.Context, c *redis.Client) (err error) { // who has changed it may have left
		kept, err = putScript.Run(ctx, c, keys, sealed, life, r.perOwner, record[len(prefix):], prefix, fresh).Int64()
		return err
	})
	if err != nil || kept != 1 {
		r.ledger.drop(record)
	}
	return kept == 1, err
}

// Get implements [Records].
func (r *SharedRecords) Get(ctx context.Context, name string) ([]byte, bool, error) {
	plain, here, _ := r.local.Get(ctx, name)
	mine, _ := parseRecord(plain)
	record, _ := r.names(name, "")
	var sealed string
	err := r.s.do(ctx, useRecords, func(ctx context.Context, c *redis.Client) (err error) {
		sealed, err = c.GetRange(ctx, record, 0, maxSharedRecord).Result() // whatever is there, it is not read beyond
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		if here || r.s.alone() {
			return mine.value, here, nil
		}
		return nil, false, ErrAway
	}
	theirs, there := r.open(record, sealed)
	switch {
	case sealed != "" && !there: // it may be a later one, sealed with a key that is not here yet
		r.s.failures[useRecords].Inc()
		return mine.value, here, nil
	case there && (!here || theirs.written.After(mine.written)):
		return theirs.value, true, nil
	}
	if here && (!there || mine.written.After(theirs.written)) {
		_, _ = r.put(ctx, name, r.local.owner(name), plain, mine.until, false) // Redis has lost it, or was away when it was put
	}
	return mine.value, here, nil
}
