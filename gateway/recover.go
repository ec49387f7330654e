package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A panic in a request is caught where the request is. What runs by itself, in a goroutine or at a timer, has nobody above it, and would
// take the process and all calls with it; so what does anything there runs its steps here. Packages that know nothing of the gateway are
// given panicked, to tell of what they caught.

// surviveAfter is the pause before what has panicked begins anew.
const surviveAfter = time.Second

// errStepPanicked is what those are told who wait for a step that has panicked.
var errStepPanicked = errors.New("internal error; the log has the cause")

// survive runs one step of a goroutine. A panic is the misfortune of that step alone: it is counted and in the log, and survive
// tells that there was one.
func (g *Gateway) survive(what string, step func()) (panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			g.panicked(what, v)
			panicked = true
		}
	}()
	step()
	return false
}

// panicked counts a panic and puts it into the log. It is called where the panic is recovered, for the stack.
func (g *Gateway) panicked(what string, v any) {
	g.metrics.Panics.Inc()
	g.log.Error("panic in the background", "while", what, "error", fmt.Errorf("panic: %v", v), "stack", string(debug.Stack()))
}

// Keep runs f until it returns by itself or ctx ends. After a panic, which is counted and in the log, it begins anew, a moment later.
func (g *Gateway) Keep(ctx context.Context, what string, f func()) {
	for g.survive(what, f) && pause(ctx, surviveAfter) {
	}
}
