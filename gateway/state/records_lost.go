package state

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"
)

// lookAtOnce is how many records are looked for in one round trip.
const lookAtOnce = 256

// findLost notes which records of this replica Redis does not have any more, or has older, if it may have lost some: it was started
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
			if there[i] < numbers[name] {
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
