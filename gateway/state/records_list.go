package state

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// scanned is the number of names that one step of a list reads.
const scanned = 500

// Each calls f with each value in Redis, whose names are digests that nobody can read. It is for operators: it reads all names of Redis.
// The error is [ErrAway] if Redis is unavailable.
func (r *SharedRecords) Each(ctx context.Context, f func(value []byte)) error {
	pattern := r.s.name(r.kind, "")
	for cursor := uint64(0); ; {
		var names []string
		err := r.s.do(ctx, useRecords, func(ctx context.Context, c *redis.Client) (err error) {
			names, cursor, err = c.Scan(ctx, cursor, pattern+"*", scanned).Result()
			return err
		})
		if err != nil {
			return err
		}
		for _, name := range names {
			var text string
			err := r.s.do(ctx, useRecords, func(ctx context.Context, c *redis.Client) (err error) {
				text, err = c.GetRange(ctx, name, 0, maxSharedRecord).Result()
				return err
			})
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}
			if rec, ok := r.open(name, text); ok {
				f(rec.value)
			}
		}
		if cursor == 0 {
			return nil
		}
	}
}

// Latest is Get for a value that must not be an old one: it is an error if Redis is unavailable.
func (r *SharedRecords) Latest(ctx context.Context, name string) (value []byte, ok bool, err error) {
	record, _ := r.names(name, "")
	var stands string
	err = r.s.do(ctx, useRecords, func(ctx context.Context, c *redis.Client) (err error) {
		stands, err = c.GetRange(ctx, record, 0, maxSharedRecord).Result()
		return err
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, false, err
	}
	if theirs, there := r.open(record, stands); there && r.take(ctx, name, theirs) {
		return theirs.value, true, nil
	}
	mine, here := r.here(ctx, name) // newer than that in Redis, which has lost it or was unavailable when it was put
	return mine.value, here, nil
}
