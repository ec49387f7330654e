package discovery

import (
	"context"
	"math/rand/v2"
	"time"
)

// Times between the requests of [Poll] after a failure: the first doubles up to the longest.
const (
	firstPollRetry   = 500 * time.Millisecond
	longestPollRetry = 4 * time.Second
)

// Poll asks a registry at once and then at intervals, and hands each answer to update, until ctx ends. After a failure it asks
// again sooner, with a jitter of a half so that gateways do not return at the same time.
func Poll(ctx context.Context, interval time.Duration, ask func(context.Context) ([]Target, error), update func([]Target, error)) {
	for failures := 0; ; {
		targets, err := ask(ctx)
		if ctx.Err() != nil {
			return
		}
		update(targets, err)
		wait := interval
		if targets != nil {
			failures = 0
		} else {
			retry := min(firstPollRetry<<min(failures, 8), longestPollRetry)
			wait = min(interval, retry/2+rand.N(retry/2))
			failures++
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
