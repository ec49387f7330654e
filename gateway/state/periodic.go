package state

import (
	"context"
	"time"
)

// repeatPause is the interval of retries and of renewals of leases.
const repeatPause = time.Second

// maxPending limits the names per use whose values are not in Redis yet. They are written within
// repeatPause after it is available again.
const maxPending = 1 << 14

// repeat calls f at an interval while Redis is available, until ctx ends.
func (s *Shared) repeat(ctx context.Context, f func(context.Context)) {
	ticker := time.NewTicker(repeatPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if phase(s.phase.Load()) == up {
			f(ctx)
		}
	}
}
