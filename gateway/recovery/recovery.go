package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// restartAfter is the delay before a function is restarted after a panic.
const restartAfter = time.Second

// ErrPanicked is the error for callers that wait for a step that has panicked.
var ErrPanicked = errors.New("internal error; the log has the cause")

// Recoverer counts and logs panics. It is safe for concurrent use.
type Recoverer struct {
	Log    *slog.Logger
	Panics prometheus.Counter
}

// Step runs one step of a goroutine and recovers from a panic, which is counted and logged. It reports whether there was
// one.
func (r *Recoverer) Step(what string, step func()) (panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			r.Report(what, v)
			panicked = true
		}
	}()
	step()
	return false
}

// Report counts and logs a panic. It must be called where the panic is recovered, for the stack.
func (r *Recoverer) Report(what string, v any) {
	r.Panics.Inc()
	r.Log.Error("panic in the background", "while", what, "error", fmt.Errorf("panic: %v", v), "stack", string(debug.Stack()))
}

// Keep runs f until it returns normally or ctx ends. After a panic, which is counted and logged, it restarts f after
// a second.
func (r *Recoverer) Keep(ctx context.Context, what string, f func()) {
	for r.Step(what, f) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(restartAfter):
		}
	}
}
