package main

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// tracesPath is the default path of OTLP traces over HTTP.
const tracesPath = "/v1/traces"

// tracesURL returns the URL for spans: an endpoint without a path gets the default one.
func tracesURL(endpoint url.URL) string {
	if endpoint.Path == "" || endpoint.Path == "/" {
		endpoint.Path = tracesPath
	}
	return endpoint.String()
}

// logInterval is the minimum time between log messages about spans that can't be sent.
const logInterval = time.Minute

// loggingExporter logs when spans can't be exported, and when they can again. The SDK would write a
// line of its own format to standard error for each attempt. It is not safe for concurrent use,
// which the SDK does not need.
type loggingExporter struct {
	sdktrace.SpanExporter
	log        *slog.Logger
	lost       int       // spans lost since the first failure; 0 if it works
	lastLogged time.Time // time of the last log message
}

// ExportSpans sends spans. The error is always nil.
func (e *loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	now := time.Now()
	switch {
	case err != nil:
		e.lost += len(spans)
		if now.Sub(e.lastLogged) >= logInterval {
			e.lastLogged = now
			e.log.Warn("spans can't be exported", "key", "telemetry.otlp_endpoint", "error", err, "lost", e.lost)
		}
	case e.lost > 0:
		e.log.Info("span export has recovered", "lost", e.lost)
		e.lost, e.lastLogged = 0, time.Time{}
	}
	return nil
}
