package main

import (
	"context"
	"log/slog"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// logInterval is the minimum time between log messages about an export that fails.
const logInterval = time.Minute

// exportLog logs when something can't be exported, and when it can again. The SDK would write a line of its own format to standard error
// for each attempt. It is not safe for concurrent use, which the SDK does not need.
type exportLog struct {
	signal     string    // that is exported
	lost       int       // since the first failure; 0 if it works
	lastLogged time.Time // time of the last log message
}

// exported notes the outcome of an attempt to export n things.
func (e *exportLog) exported(log *slog.Logger, n int, err error) {
	now := time.Now()
	switch {
	case err != nil:
		e.lost += n
		if now.Sub(e.lastLogged) >= logInterval {
			e.lastLogged = now
			log.Warn("telemetry can't be exported", "signal", e.signal, "key", "telemetry.otlp_endpoint", "error", err, "lost", e.lost)
		}
	case e.lost > 0:
		log.Info("the export of telemetry has recovered", "signal", e.signal, "lost", e.lost)
		e.lost, e.lastLogged = 0, time.Time{}
	}
}

// loggingExporter exports spans with an [exportLog].
type loggingExporter struct {
	sdktrace.SpanExporter
	log      *slog.Logger
	outcomes exportLog
}

// ExportSpans sends spans. The error is always nil.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.outcomes.signal = "spans"
	e.outcomes.exported(e.log, len(spans), e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

// loggingMetricExporter exports metrics with an [exportLog]. What is lost are whole exports.
type loggingMetricExporter struct {
	sdkmetric.Exporter
	log      *slog.Logger
	outcomes exportLog
}

// Export sends metrics. The error is always nil.
func (e *loggingMetricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	e.outcomes.signal = "metrics"
	e.outcomes.exported(e.log, 1, e.Exporter.Export(ctx, m))
	return nil
}
