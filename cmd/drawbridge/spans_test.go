package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"drawbridge/config"
)

// TestSpansAreToldOf: a collector that takes no spans is in the log once, as a record like all others, and again when it takes them.
func TestSpansAreToldOf(t *testing.T) {
	t.Parallel()
	var path atomic.Value
	var well atomic.Bool
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.URL.Path)
		if !well.Load() {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer collector.Close()
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte("apis: [{spec: a.yaml}]\ntelemetry: {otlp_endpoint: \""+collector.URL+"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	exported, err := export(t.Context(), &c.Telemetry, "1", prometheus.NewRegistry(), slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	send := func() {
		sendSpan(t, exported)
	}
	for range 3 {
		send()
	}
	if got := path.Load(); got != config.TracesPath {
		t.Errorf("spans go to %v", got)
	}
	well.Store(true)
	send()
	exported.end(slog.New(slog.NewTextHandler(log, nil)))
	text := log.String()
	if strings.Count(text, "telemetry can't be exported") != 1 || !strings.Contains(text, "signal=spans") || !strings.Contains(text, "key=telemetry.otlp_endpoint") || !strings.Contains(text, "404") ||
		strings.Count(text, "the export of telemetry has recovered") != 1 || !strings.Contains(text, "lost=3") || strings.Count(text, "\n") != 2 {
		t.Error(text)
	}
}

// sendSpan makes a span and exports it.
func sendSpan(t *testing.T, e *exported) {
	t.Helper()
	_, span := e.tracers.Tracer("test").Start(t.Context(), "a call")
	span.End()
	if err := e.tracers.(*sdktrace.TracerProvider).ForceFlush(t.Context()); err != nil { //nolint:forcetypeassert // the SDK's
		t.Error(err)
	}
}
