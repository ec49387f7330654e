package main

import (
	"context"
	"log/slog"
	"net/url"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// tracesPath is where collectors take traces by OTLP over HTTP, if the URL says no other place.
const tracesPath = "/v1/traces"

// tracesURL returns where spans go: the URL of a collector alone stands for its usual place.
func tracesURL(endpoint url.URL) string {
	if endpoint.Path == "" || endpoint.Path == "/" {
		endpoint.Path = tracesPath
	}
	return endpoint.String()
}

// toldPause is how often the log tells that spans can't be sent.
const toldPause = time.Minute

// toldExporter has the log tell when spans can't be sent, and when they can again. The SDK would write a line of its own form to standard error for each
// attempt. It is not safe for concurrent use, nor used so by the SDK.
type toldExporter struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	lost int       // spans since it failed for the first time; 0: it does not fail
	told time.Time // when the log was told of it for the last time
}

// ExportSpans sends spans. The error is always nil.
func (e *toldExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	now := time.Now()
	switch {
	case err != nil:
		e.lost += len(spans)
		if now.Sub(e.told) >= toldPause {
			e.told = now
			e.log.Warn("spans can't be sent", "key", "telemetry.otlp_endpoint", "error", err, "lost", e.lost)
		}
	case e.lost > 0:
		e.log.Info("spans are sent again", "lost", e.lost)
		e.lost, e.told = 0, time.Time{}
	}
	return nil
}
