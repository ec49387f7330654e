package state

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
)

// lookAtOnce is the number of records that are checked in one round trip.
const lookAtOnce = 256

// maxMerges is the maximum number of merges with concurrent updates before the rest is retried
// later.
const maxMerges = 4

// reconcile stores a record in Redis and replaces one whose number is not above over. If there is
// another one, it stores the result of merging both. It returns the record known here; an error
// means that Redis does not have it yet.
func (r *SharedRecords) reconcile(ctx context.Context, name string, rec numbered, over int64) (numbered, error) {
	for range maxMerges {
		theirs, kept, err := r.put(ctx, name, rec, over)
		if kept || err != nil {
			return rec, err
		}
		if rec = r.join(ctx, name, rec, theirs); rec.number <= theirs.number {
			return rec, nil
		}
		over = theirs.number
	}
	r.markPending(name)
	return rec, nil
}

// join merges the record of this replica with that in Redis, and stores the result locally. Its
// number is higher than that in Redis if it must replace it there. A final record stays unchanged.
func (r *SharedRecords) join(ctx context.Context, name string, mine, theirs numbered) numbered {
	r.mu.Lock()
	defer r.mu.Unlock()
	one, other := theirs, mine
	if mine.number > theirs.number {
		one, other = mine, theirs
	}
	if one.number != settled {
		if value := r.merge(one.value, other.value); !bytes.Equal(value, one.value) {
			one.value = value
			one.number++
		}
	}
	if now, here := r.here(ctx, name); !here || now.number <= one.number {
		_ = r.local.Put(ctx, name, one.owner, one.plain(), one.until)
	}
	return one
}

// findLost marks the records of this replica that are missing in Redis, or older or newer there, if
// it may have lost some: it was restarted without its data, or failed over to a lagging replica.
func (r *SharedRecords) findLost(ctx context.Context) {
	if !r.doubted.Swap(false) {
		return
	}
	numbers := map[string]int64{}
	r.local.each(func(name string, plain []byte) {
		if rec, ok := parseRecord(plain); ok {
			numbers[name] = rec.number
		}
	})
	for names := range slices.Chunk(slices.Collect(maps.Keys(numbers)), lookAtOnce) {
		there, err := r.numbersOf(ctx, names)
		if err != nil {
			r.doubted.Store(true)
			return
		}
		for i, name := range names {
			if there[i] != numbers[name] && there[i] != settled { // a newer one may be derived from an older one
				r.markPending(name)
			}
		}
	}
}

// numbersOf returns the numbers of the records in Redis under names, 0 for anything that is not a
// record.
func (r *SharedRecords) numbersOf(ctx context.Context, names []string) ([]int64, error) {
	stands := make([]*redis.StringCmd, len(names))
	err := r.s.do(ctx, useRecords, func(ctx context.Context, c *redis.Client) error {
		_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, name := range names {
				record, _ := r.names(name, "")
				stands[i] = p.GetRange(ctx, record, 0, numberDigits-1)
			}
			return nil
		})
		var reply redis.Error
		if errors.As(err, &reply) && !isAway(err) {
			return nil // a value of another type
		}
		return err
	})
	numbers := make([]int64, len(names))
	for i := range numbers {
		if err == nil {
			numbers[i], _, _ = cutNumber(stands[i].Val())
		}
	}
	return numbers, err
}
