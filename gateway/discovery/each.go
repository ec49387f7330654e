package discovery

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many requests a provider sends to a registry at a time, where it needs one for each service.
const atOnce = 8

// Each calls f for each index below count, for several at a time, and returns the first error, which ends the context of the others. If
// f panics, Each panics with the value and the stack of f, so that whoever runs the provider recovers as from a panic of its own.
func Each(ctx context.Context, count int, f func(ctx context.Context, i int) error) error {
	var panicked atomic.Pointer[string]
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range count {
		group.Go(func() error {
			defer func() {
				if v := recover(); v != nil {
					text := fmt.Sprintf("%v\n%s", v, debug.Stack())
					panicked.Store(&text)
				}
			}()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return f(ctx, i)
		})
	}
	err := group.Wait()
	if v := panicked.Load(); v != nil {
		panic(*v)
	}
	return err
}
