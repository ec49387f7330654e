package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
	"drawbridge/gateway/upstream"
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
	collector := tracesURL(*t.OTLPEndpoint.URL())
	way, err := wayOut(t, version)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(collector), way)
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

// wayOut keeps the exporter from the proxies of the environment, which it follows by itself (E5). With a configured proxy it gets a
// client, and then does not read certificates from the environment.
func wayOut(t config.Telemetry, version string) (otlptracehttp.Option, error) {
	if !t.Proxy.On() {
		return otlptracehttp.WithProxy(func(*http.Request) (*url.URL, error) { return nil, nil }), nil //nolint:nilnil // no proxy, as net/http has it
	}
	for _, signal := range []string{"", "TRACES_"} {
		for _, what := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
			if name := "OTEL_EXPORTER_OTLP_" + signal + what; os.Getenv(name) != "" {
				return nil, fmt.Errorf("telemetry.proxy: %s has no effect with a proxy; unset it, or write telemetry: {proxy: off}", name)
			}
		}
	}
	return otlptracehttp.WithHTTPClient(upstream.TelemetryClient(t.Proxy, t.OTLPEndpoint.URL(), version)), nil
}

// shutdown sends the remaining spans.
func (t *tracing) shutdown(log *slog.Logger) {
	if t.sdk == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.sdk.Shutdown(ctx); err != nil {
		log.Warn("the last spans could not be exported", "error", err)
	}
}

// cgroupShare is the part of the container's memory that becomes GOMEMLIMIT: the rest is for what
// the runtime does not count.
const cgroupShare = 0.9

// limitMemory sets the memory limit from the container (the lowest limit of its control groups),
// unless GOMEMLIMIT is set. Without control groups there is no limit.
func limitMemory(log *slog.Logger) {
	if _, err := memlimit.Set(memlimit.WithRatio(cgroupShare)); err != nil {
		log.Debug("the memory limit of the container is unknown", "error", err)
	}
}
