package state

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/alicebob/miniredis/v2"

	"drawbridge/test/timebox"
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

// TestPanicOfATaker: whoever listens again after a panic is known to listen.
func TestPanicOfATaker(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	heard := make(chan string, 1)
	a, b := pair(t, m, func(a, b *Shared) {
		a.bus.Subscribe("topic", func([]byte) {})
		b.bus.Subscribe("topic", func(message []byte) {
			if string(message) == "bad" {
				panic("injected")
			}
			heard <- string(message)
		})
	})
	before, _ := b.bus.subscription()
	a.Bus().Publish(t.Context(), "topic", []byte("bad"))
	eventually(t, "it listens again", func() bool { epoch, listens := b.bus.subscription(); return listens && epoch > before })
	a.Bus().Publish(t.Context(), "topic", []byte("good"))
	if got := timebox.Receive(t, heard); got != "good" {
		t.Errorf("heard %q", got)
	}
}
