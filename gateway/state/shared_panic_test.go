package state

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

// TestPanicBesideTheSharedState: what watches Redis and hears other replicas has nobody above it, and goes on after a panic.
func TestPanicBesideTheSharedState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &Shared{}
		s.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		runs := 0
		s.keep(t.Context(), func(context.Context) {
			if runs++; runs < 3 {
				panic("injected")
			}
		})
		if runs != 3 || strings.Count(log.String(), `error="panic: injected"`) != 2 {
			t.Errorf("%d runs: %s", runs, log.String())
		}
		ctx, cancel := context.WithCancel(t.Context())
		s.keep(ctx, func(context.Context) { cancel(); runs++; panic("injected") })
		if runs != 4 {
			t.Errorf("%d runs after the end", runs)
		}
	})
}
