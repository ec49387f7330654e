package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/config"
)

// auditExportTimeout is the time for one export of audit records. Calls wait while none succeeds, if audit.when_full is block.
const auditExportTimeout = 5 * time.Second

// auditEvent is the event name of the log records of audit records.
const auditEvent = "drawbridge.audit"

// auditExporter sends the lines of an audit log to a collector, each as a log record whose body has the members of the line. It is not
// safe for concurrent use, which the audit log does not need.
type auditExporter struct {
	exporter sdklog.Exporter
	logger   log.Logger
	records  []sdklog.Record // of the lines that are being written
}

// newAuditExporter returns the writer of audit lines to the collector of a configuration.
func newAuditExporter(t *config.Telemetry) (io.Writer, error) {
	client, err := newCollectorClient(t, version)
	if err != nil {
		return nil, err
	}
	exporter, err := otlploghttp.New(context.Background(), otlploghttp.WithEndpointURL(t.SignalURL(config.LogsPath).String()),
		otlploghttp.WithTimeout(auditExportTimeout), otlploghttp.WithRetry(otlploghttp.RetryConfig{}), // the audit log tries again
		choose(client, otlploghttp.WithHTTPClient, otlploghttp.WithProxy(noProxy)))
	if err != nil {
		return nil, fmt.Errorf("open the export of the audit log: %w", err)
	}
	a := &auditExporter{exporter: exporter}
	a.logger = sdklog.NewLoggerProvider(sdklog.WithProcessor(a), sdklog.WithResource(resourceOf(version)), sdklog.WithAttributeCountLimit(-1)).Logger("drawbridge")
	return a, nil
}

// Write sends lines, all or none.
func (a *auditExporter) Write(lines []byte) (int, error) {
	a.records = a.records[:0]
	for line := range bytes.Lines(lines) {
		if err := a.add(line); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditExportTimeout)
	defer cancel()
	if err := a.exporter.Export(ctx, a.records); err != nil {
		return 0, fmt.Errorf("export to telemetry.otlp_endpoint: %w", err)
	}
	return len(lines), nil
}

// add adds the record of a line.
func (a *auditExporter) add(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var members map[string]any
	if err := d.Decode(&members); err != nil {
		return fmt.Errorf("read a line of the audit log: %w", err)
	}
	var r log.Record
	r.SetEventName(auditEvent)
	r.SetSeverity(log.SeverityInfo)
	if text, ok := members["time"].(string); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			r.SetTimestamp(at)
		}
	}
	ctx := context.Background()
	if text, ok := members["trace"].(string); ok {
		if id, err := trace.TraceIDFromHex(text); err == nil {
			ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id}))
		}
	}
	r.SetBody(logValue(members))
	a.logger.Emit(ctx, r)
	return nil
}

// logValue returns a decoded JSON value as one of a log record.
func logValue(v any) attribute.Value {
	switch v := v.(type) {
	case string:
		return attribute.StringValue(v)
	case bool:
		return attribute.BoolValue(v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return attribute.Int64Value(n)
		}
		f, _ := v.Float64()
		return attribute.Float64Value(f)
	case []any:
		items := make([]attribute.Value, len(v))
		for i := range v {
			items[i] = logValue(v[i])
		}
		return attribute.SliceValue(items...)
	case map[string]any:
		members := make([]attribute.KeyValue, 0, len(v))
		for name := range v {
			members = append(members, attribute.KeyValue{Key: attribute.Key(name), Value: logValue(v[name])})
		}
		return attribute.MapValue(members...)
	}
	return attribute.Value{}
}

// OnEmit keeps a record until it is exported; see [sdklog.Processor].
func (a *auditExporter) OnEmit(_ context.Context, r *sdklog.Record) error {
	a.records = append(a.records, r.Clone())
	return nil
}

// Enabled lets every record pass.
func (*auditExporter) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// Shutdown and ForceFlush have nothing to do: every record is exported by Write.
func (*auditExporter) Shutdown(context.Context) error   { return nil }
func (*auditExporter) ForceFlush(context.Context) error { return nil }
