package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"

	"drawbridge/gateway"
	"drawbridge/gateway/recovery"
	"drawbridge/test/gatewaytest"
)

// panicky is a log that panics at the next record of a message, in whatever goroutine that is.
type panicky struct {
	slog.Handler
	at atomic.Pointer[string]
}

func (p *panicky) Handle(_ context.Context, r slog.Record) error {
	if at := p.at.Load(); at != nil && *at == r.Message && p.at.CompareAndSwap(at, nil) {
		panic("injected")
	}
	return nil
}

func (p *panicky) Enabled(context.Context, slog.Level) bool { return true }
func (p *panicky) WithAttrs([]slog.Attr) slog.Handler       { return p }
func (p *panicky) WithGroup(string) slog.Handler            { return p }

// TestPanicsInTheBackground: the goroutines that have no request around them outlive a panic, and do their work after it.
func TestPanicsInTheBackground(t *testing.T) {
	log := &panicky{}
	r := gatewaytest.RunWith(t, map[string]string{"drawbridge.yaml": "- a.yaml\n", "a.yaml": gatewaytest.Document("A", "first")}, gateway.Options{Logger: slog.New(log)})
	r.Served()
	for n, at := range []string{"document read", "tools changed", "operations", "configuration in use", "configuration file changed", "document can't be used"} {
		t.Run(at, func(t *testing.T) {
			log.at.Store(&at)
			// A document that is changed, one that is bad, and a configuration: one of these leads there.
			r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", fmt.Sprintf("lost%d", n))})
			err := r.Reload(t.Context())
			r.Write(map[string]string{"a.yaml": "- no document\n"})
			err = errors.Join(err, r.Reload(t.Context()))
			r.Write(map[string]string{"drawbridge.yaml": fmt.Sprintf("# %d\n- a.yaml\n", n)})
			r.Eventually("the panic", func() bool { return log.at.Load() == nil })
			if err != nil && !errors.Is(err, recovery.ErrPanicked) {
				t.Errorf("Reload: %v", err)
			}
			name := fmt.Sprintf("next%d", n)
			r.Write(map[string]string{"a.yaml": gatewaytest.Document("A", name)})
			r.Eventually("a changed document is served", func() bool { return slices.Equal(r.Tools(), []string{name}) })
			if err := r.Reload(t.Context()); err != nil {
				t.Errorf("the next reload: %v", err)
			}
		})
	}
	if got := gatewaytest.MetricLines(r.Gateway, "drawbridge_panics_total"); len(got) == 0 {
		t.Error("no panic was counted")
	}
}
