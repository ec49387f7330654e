package main

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
)

// tracing is the OpenTelemetry SDK, if an endpoint is configured. Without one the provider is nil and no span is
// made at all.
type tracing struct {
	provider trace.TracerProvider
	sdk      *sdktrace.TracerProvider
}

func newTracing(ctx context.Context, t config.Telemetry, version string) (*tracing, error) {
	if t.OTLPEndpoint == nil {
		return &tracing{}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(t.OTLPEndpoint.String()))
	if err != nil {
		return nil, fmt.Errorf("telemetry.otlp_endpoint: %w", err)
	}
	sdk := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "drawbridge"), attribute.String("service.version", version))),
	)
	return &tracing{provider: sdk, sdk: sdk}, nil
}

// shutdown sends what is left.
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

// How far the heap may grow between two collections, in percent of what is alive.
const (
	// What is kept of a document is made among much that isn't; the fewer collections, the further it is strewn over
	// memory that then can't be given back. GitHub's document takes 4 MB more with Go's default of 100.
	growthReading = 65
	// The live heap of a gateway that serves is small, so that memory is cheap, and collections are what makes the slowest
	// calls slow (docs/performance.md).
	growthServing = 400
)

// tuneMemory sets how far the heap may grow, unless the operator has decided with GOGC.
func tuneMemory(getenv func(string) string, growth int) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
}
