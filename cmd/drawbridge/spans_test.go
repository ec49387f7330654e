package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/config"
)

// TestTracesURL: the address of a collector alone is enough, and a path is taken as it is.
func TestTracesURL(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://collector:4318":                "http://collector:4318/v1/traces",
		"http://collector:4318/":               "http://collector:4318/v1/traces",
		"https://collector/v1/traces":          "https://collector/v1/traces",
		"https://collector/tenants/a/v1/spans": "https://collector/tenants/a/v1/spans",
	} {
		u, err := url.Parse(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := tracesURL(*u); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

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
	tracing, err := newTracing(t.Context(), c.Telemetry, "1", slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	send := func() {
		_, span := tracing.provider.Tracer("test").Start(t.Context(), "a call")
		span.End()
		if err := tracing.sdk.ForceFlush(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		send()
	}
	if got := path.Load(); got != tracesPath {
		t.Errorf("spans go to %v", got)
	}
	well.Store(true)
	send()
	tracing.shutdown(slog.New(slog.NewTextHandler(log, nil)))
	text := log.String()
	if strings.Count(text, "spans can't be exported") != 1 || !strings.Contains(text, "key=telemetry.otlp_endpoint") || !strings.Contains(text, "404") ||
		strings.Count(text, "span export has recovered") != 1 || !strings.Contains(text, "lost=3") || strings.Count(text, "\n") != 2 {
		t.Error(text)
	}
}
