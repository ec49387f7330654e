package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// A panic in a request is recovered by the request's handler. Background goroutines and timers have no such handler,
// and a panic would end the process and all calls. They therefore run their steps with survive. Packages that don't
// know the gateway get the function panicked to report panics that they have recovered.

// surviveAfter is the delay before a function is restarted after a panic.
const surviveAfter = time.Second

// errStepPanicked is the error for callers that wait for a step that has panicked.
var errStepPanicked = errors.New("internal error; the log has the cause")

// survive runs one step of a goroutine and recovers from a panic, which is counted and logged. It reports whether there
// was one.
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

// panicked counts and logs a panic. It must be called where the panic is recovered, for the stack.
func (g *Gateway) panicked(what string, v any) {
	g.metrics.Panics.Inc()
	g.log.Error("panic in the background", "while", what, "error", fmt.Errorf("panic: %v", v), "stack", string(debug.Stack()))
}

// Keep runs f until it returns normally or ctx ends. After a panic, which is counted and logged, it restarts f after
// surviveAfter.
func (g *Gateway) Keep(ctx context.Context, what string, f func()) {
	for g.survive(what, f) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(surviveAfter):
		}
	}
}
