package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"drawbridge/config"
)

// collector is an OpenTelemetry collector that keeps the bodies it gets, by path.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string][]string
	refuse bool
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{bodies: map[string][]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil || c.refuse {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		c.bodies[r.URL.Path] = append(c.bodies[r.URL.Path], string(body))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) setRefuse(refuse bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = refuse
}

// got returns what came to a path.
func (c *collector) got(path string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.bodies[path], "")
}

func loadText(t *testing.T, text string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(file, func(string) string { return "" })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMetricsAreExported: the metrics of the registry go to the collector beside those that have the names of the conventions, and no
// spans if they are not asked for.
func TestMetricsAreExported(t *testing.T) {
	t.Parallel()
	to := newCollector(t)
	c := loadText(t, "apis: [{spec: a.yaml}]\ntelemetry: {otlp_endpoint: \""+to.URL+"\", otlp_signals: [metrics]}\n")
	registry := prometheus.NewRegistry()
	counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_example_total"})
	registry.MustRegister(counter)
	counter.Inc()
	e, err := export(t.Context(), &c.Telemetry, "1", registry, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h, err := e.meters.Meter("test").Float64Histogram("mcp.server.operation.duration")
	if err != nil {
		t.Fatal(err)
	}
	h.Record(t.Context(), 1)
	if err := e.meters.(*sdkmetric.MeterProvider).ForceFlush(t.Context()); err != nil { //nolint:forcetypeassert // the SDK's
		t.Error(err)
	}
	e.end(slog.New(slog.DiscardHandler))
	got := to.got(config.MetricsPath)
	for _, want := range []string{"drawbridge_example_total", "mcp.server.operation.duration", "service.name"} {
		if !strings.Contains(got, want) {
			t.Errorf("metrics don't have %s: %q", want, got)
		}
	}
	if e.tracers != nil || to.got(config.TracesPath) != "" {
		t.Error("spans are made")
	}
}

// TestAuditRecordsAreExported: each line is a log record with the members of the line, the time and the trace. What a collector refuses is
// written again.
func TestAuditRecordsAreExported(t *testing.T) {
	t.Parallel()
	to := newCollector(t)
	c := loadText(t, "apis: [{spec: a.yaml}]\ntelemetry: {otlp_endpoint: \""+to.URL+"\"}\naudit: {otlp: true}\n")
	w, err := newAuditExporter(&c.Telemetry)
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"time":"2026-11-22T04:34:04.123Z","trace":"11111111111111111111111111111111","tool":"get_order","scopes":["a","b"],"fields":{"/n":17},"duration_ms":1.5}` + "\n" +
		`{"time":"2026-11-22T04:34:05.123Z","tool":"delete_order"}` + "\n"
	to.setRefuse(true)
	if n, err := w.Write([]byte(lines)); n != 0 || err == nil || !strings.Contains(err.Error(), "telemetry.otlp_endpoint") {
		t.Errorf("%d, %v", n, err)
	}
	to.setRefuse(false)
	if n, err := w.Write([]byte(lines)); n != len(lines) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	got := to.got(config.LogsPath)
	for _, want := range []string{"get_order", "delete_order", "drawbridge.audit", "duration_ms", strings.Repeat("\x11", 16)} {
		if strings.Count(got, want) < 1 {
			t.Errorf("the records don't have %q: %q", want, got)
		}
	}
	if strings.Count(got, "get_order") != 1 {
		t.Error("a record was sent twice")
	}
}
