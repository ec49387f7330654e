package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/prometheus/client_golang/prometheus"
	prometheusbridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
	"drawbridge/gateway/upstream"
)

// exported is the OpenTelemetry SDK with the signals that are configured. The providers of others are nil.
type exported struct {
	tracers  trace.TracerProvider
	meters   metric.MeterProvider
	shutdown []func(context.Context) error
}

// export begins to send the signals of a configuration to its collector. metrics are sent beside what the meters measure.
func export(ctx context.Context, t *config.Telemetry, version string, metrics prometheus.Gatherer, log *slog.Logger) (*exported, error) {
	e := &exported{}
	if t.OTLPEndpoint == nil {
		return e, nil
	}
	c, err := newCollectorClient(t, version)
	if err != nil {
		return nil, err
	}
	if slices.Contains(t.OTLPSignals, config.SignalTraces) {
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(t.SignalURL(config.TracesPath).String()),
			choose(c, otlptracehttp.WithHTTPClient, otlptracehttp.WithProxy(noProxy)))
		if err != nil {
			return nil, fmt.Errorf("telemetry.otlp_endpoint: %w", err)
		}
		p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(&loggingExporter{SpanExporter: exporter, log: log}), sdktrace.WithResource(resourceOf(version)))
		e.tracers, e.shutdown = p, append(e.shutdown, p.Shutdown)
	}
	if slices.Contains(t.OTLPSignals, config.SignalMetrics) {
		exporter, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(t.SignalURL(config.MetricsPath).String()),
			choose(c, otlpmetrichttp.WithHTTPClient, otlpmetrichttp.WithProxy(noProxy)))
		if err != nil {
			return nil, fmt.Errorf("telemetry.otlp_endpoint: %w", err)
		}
		reader := sdkmetric.NewPeriodicReader(&loggingMetricExporter{Exporter: exporter, log: log},
			sdkmetric.WithProducer(prometheusbridge.NewMetricProducer(prometheusbridge.WithGatherer(metrics))))
		p := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(resourceOf(version)))
		e.meters, e.shutdown = p, append(e.shutdown, p.Shutdown)
	}
	return e, nil
}

// resourceOf identifies the program. OTEL_RESOURCE_ATTRIBUTES adds to it.
func resourceOf(version string) *resource.Resource {
	return resource.NewSchemaless(attribute.String("service.name", "drawbridge"), attribute.String("service.version", version))
}

// newCollectorClient returns the HTTP client of the exporters if a proxy is configured, else nil. It does not read certificates from the
// environment, as an exporter without it does.
func newCollectorClient(t *config.Telemetry, version string) (*http.Client, error) {
	if !t.Proxy.On() {
		return nil, nil //nolint:nilnil // the exporter's own
	}
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		for _, what := range []string{"CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"} {
			if name := "OTEL_EXPORTER_OTLP_" + signal + what; os.Getenv(name) != "" {
				return nil, fmt.Errorf("telemetry.proxy: %s has no effect with a proxy; unset it, or write telemetry: {proxy: off}", name)
			}
		}
	}
	return upstream.TelemetryClient(t.Proxy, t.OTLPEndpoint.URL(), version), nil
}

// choose returns the option of an exporter that lets it use c, else the one that keeps it from the proxies of the environment, which it
// follows by itself (E5).
func choose[O any](c *http.Client, with func(*http.Client) O, without O) O {
	if c != nil {
		return with(c)
	}
	return without
}

func noProxy(*http.Request) (*url.URL, error) { return nil, nil } //nolint:nilnil // no proxy, as net/http has it

// end sends what is left.
func (e *exported) end(log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var failed []error
	for _, shutdown := range e.shutdown {
		failed = append(failed, shutdown(ctx))
	}
	if err := errors.Join(failed...); err != nil {
		log.Warn("the last telemetry could not be exported", "error", err)
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
