package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A panic in a request is caught where the request is. What runs by itself has nobody above it, and would take the process and all
// calls with it; so each goroutine of the gateway's runs its steps here.

// surviveAfter is the pause before what has panicked begins anew.
const surviveAfter = time.Second

// errStepPanicked is what those are told who wait for a step that has panicked.
var errStepPanicked = errors.New("internal error; the log has the cause")

// survive runs one step of a goroutine. A panic is the misfortune of that step alone: it is counted and in the log, and survive
// tells that there was one.
func (g *Gateway) survive(what string, step func()) (panicked bool) {
	defer func() {
		if v := recover(); v != nil {
			g.metrics.panics.Inc()
			g.log.Error("panic in the background", "while", what, "error", fmt.Errorf("panic: %v", v), "stack", string(debug.Stack()))
			panicked = true
		}
	}()
	step()
	return false
}

// keep runs f until it returns by itself or ctx ends. After a panic it begins anew, a moment later.
func (g *Gateway) keep(ctx context.Context, what string, f func()) {
	for g.survive(what, f) && pause(ctx, surviveAfter) {
	}
}
