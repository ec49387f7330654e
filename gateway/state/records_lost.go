package state

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
)

// lookAtOnce is how many records are looked for in one round trip.
const lookAtOnce = 256

// maxMerges is how often a record meets others that were put meanwhile before the rest is left for later.
const maxMerges = 4

// agree puts a record in Redis in place of one whose number is not above over. Where another one stands, what both make together does. It
// returns what is known here then; the error says that Redis does not know of it yet.
func (r *SharedRecords) agree(ctx context.Context, name string, rec numbered, over int64) (numbered, error) {
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
	r.later(name)
	return rec, nil
}

// join makes one record of that of this replica and that in Redis, and keeps it here. It has a higher number than that in Redis if it is to
// take its place there. One that settles the name stays as it is.
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

// findLost notes which records of this replica Redis does not have any more, or has older or newer, if it may have lost some: it was started
// without its data, or another that lagged behind took its place.
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
			if there[i] != numbers[name] && there[i] != settled { // a newer one may have been made of an older
				r.later(name)
			}
		}
	}
}

// numbersOf returns the numbers of what stands in Redis under names; 0: nothing that is a record.
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
			return nil // of what is no text
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
