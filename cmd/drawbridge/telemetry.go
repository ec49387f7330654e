package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
)

// tracing is the OpenTelemetry SDK, if an endpoint is configured. Otherwise the provider is nil and
// no spans are created.
type tracing struct {
	provider trace.TracerProvider
	sdk      *sdktrace.TracerProvider
}

func newTracing(ctx context.Context, t config.Telemetry, version string, log *slog.Logger) (*tracing, error) {
	if t.OTLPEndpoint == nil {
		return &tracing{}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(tracesURL(*t.OTLPEndpoint.URL())))
	if err != nil {
		return nil, fmt.Errorf("telemetry.otlp_endpoint: %w", err)
	}
	sdk := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&loggingExporter{SpanExporter: exporter, log: log}),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "drawbridge"), attribute.String("service.version", version))),
	)
	return &tracing{provider: sdk, sdk: sdk}, nil
}

// shutdown sends the remaining spans.
func (t *tracing) shutdown(log *slog.Logger) {
	if t.sdk == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.sdk.Shutdown(ctx); err != nil {
		log.Warn("the last spans could not be sent", "error", err)
	}
}

// cgroupShare is the part of the container's memory that becomes GOMEMLIMIT: the rest is for what
// the runtime does not count.
const cgroupShare = 0.9

// limitMemory sets the memory limit from the container, unless GOMEMLIMIT is set. root is the root
// of the file system.
func limitMemory(getenv func(string) string, root string) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := cgroupMemory(root); limit > 0 {
		debug.SetMemoryLimit(int64(float64(limit) * cgroupShare))
	}
}

// cgroupMemory returns the lowest memory limit, in bytes, of the control group of the process and
// its ancestors; 0 if there is none. In a container the path of the group may be that of the host,
// of which the container sees only the end: then the root's limit is used.
func cgroupMemory(root string) (least int64) {
	groups, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, name := "sys/fs/cgroup", "memory.max" // version 2
		if slices.Contains(strings.Split(parts[1], ","), "memory") {
			mount, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[1] != "" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			text, err := os.ReadFile(filepath.Join(root, mount, group, name))
			if n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && n > 0 && n < 1<<60 && (least == 0 || n < least) {
				least = n
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}
