package recovery

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newRecoverer(log *bytes.Buffer) *Recoverer {
	return &Recoverer{Log: slog.New(slog.NewTextHandler(log, nil)), Panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "panics"})}
}

func TestStep(t *testing.T) {
	var log bytes.Buffer
	r := newRecoverer(&log)
	if r.Step("nothing happened", func() {}) || log.Len() > 0 {
		t.Errorf("a step without a panic is reported: %s", &log)
	}
	if !r.Step("a test ran", func() { panic("injected") }) {
		t.Error("a panic is not reported")
	}
	if n := testutil.ToFloat64(r.Panics); n != 1 {
		t.Errorf("%v panics were counted", n)
	}
	for _, part := range []string{"while=\"a test ran\"", "panic: injected", "recovery_test.go"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log lacks %q: %s", part, &log)
		}
	}
}

// A function is restarted after each panic, until it returns or the context ends.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r, runs := newRecoverer(&log), 0
		start := time.Now()
		r.Keep(t.Context(), "a test ran", func() {
			if runs++; runs < 3 {
				panic("injected")
			}
		})
		if took := time.Since(start); runs != 3 || took != 2*restartAfter {
			t.Errorf("%d runs took %v", runs, took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		r.Keep(ctx, "a test ran", func() { cancel(); panic("injected") })
		if took := time.Since(start); took != 2*restartAfter {
			t.Errorf("it waits after the end of its context: %v", took)
		}
	})
}
