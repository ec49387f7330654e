package call

import (
	"context"
	"time"
)

// WithCancelAfter returns a context that is cancelled after d. It has no deadline, because the circuit breaker counts an expired
// deadline as a failure of the service, and this timeout is the gateway's own.
func WithCancelAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(d, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}
