package state

import (
	"context"
	"time"
)

// repeatPause is the time between two attempts to do what could not be done, and between two renewals of what would end by itself.
const repeatPause = time.Second

// maxUntold bounds the names of one use that wait for Redis, which has them within repeatPause when it is back.
const maxUntold = 1 << 14

// repeat calls f again and again while Redis is there, until ctx ends.
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
