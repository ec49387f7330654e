package telemetry

import (
	"context"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/mcp"
)

// MCPOperations are the requests and notifications of MCP as OpenTelemetry's semantic conventions for MCP have them: a span for each message
// that [Tracer.StartCall] made none for, and the histogram mcp.server.operation.duration. It is safe for concurrent use.
type MCPOperations struct {
	tracer   *Tracer                 // nil if tracing is off
	duration metric.Float64Histogram // nil if nothing is measured
	sets     sync.Map                // of operationKey: metric.RecordOption
	kept     atomic.Int64            // entries of sets
}

// operationKey are the attributes of a duration. All are of closed sets.
type operationKey struct {
	method, revision, http, tool string
	code                         int
	failed                       bool
}

// maxOperationKeys is the most sets of attributes that are kept; others are made each time.
const maxOperationKeys = 4096

// operationBuckets are those of the conventions, in seconds.
var operationBuckets = []float64{.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300}

// NewMCPOperations returns the operations of a tracer and a meter, either of which may be nil; nil if both are.
func NewMCPOperations(t *Tracer, p metric.MeterProvider) *MCPOperations {
	if t == nil && p == nil {
		return nil
	}
	o := &MCPOperations{tracer: t}
	if p != nil {
		var err error
		o.duration, err = p.Meter("drawbridge").Float64Histogram("mcp.server.operation.duration", metric.WithUnit("s"),
			metric.WithDescription("Time from the receipt of an MCP request or notification until its response is sent."),
			metric.WithExplicitBucketBoundaries(operationBuckets...))
		if err != nil {
			panic(err) // the name and the buckets are constants
		}
	}
	return o
}

// operation is a message that was served.
type operation struct {
	request *mcp.Request
	event   *mcp.Event
	called  *mcp.Called // nil if it called no tool
}

// observe takes note of a message that was served. Streams, which last as long as their clients, are no operations.
func (o *MCPOperations) observe(p *operation, client netip.Addr, pending *PendingCheck, now time.Time) {
	switch p.event.Method {
	case "", "GET", "DELETE", "batch", "response", "unknown", "subscriptions/listen":
		return
	}
	if o.duration != nil {
		o.duration.Record(p.request.HTTP.Context(), p.event.Duration.Seconds(), o.attributes(p))
	}
	if o.tracer != nil && (p.called == nil || !p.called.Traced) {
		o.tracer.message(p, client, pending, now)
	}
}

func (o *MCPOperations) attributes(p *operation) metric.RecordOption {
	k := operationKey{method: p.event.Method, revision: p.event.Revision, http: p.request.HTTP.Proto, code: p.event.Code}
	if p.called != nil && k.method == toolsCall {
		k.tool, k.failed = p.called.Tool, p.called.Failed
	}
	known, _ := o.sets.Load(k)
	if option, ok := known.(metric.RecordOption); ok {
		return option
	}
	m := Message{Revision: k.revision, HTTP: k.http}
	attributes := m.attributes([]attribute.KeyValue{attribute.String("mcp.method.name", k.method)}, nil)
	if k.tool != "" {
		attributes = append(attributes, attribute.String("gen_ai.tool.name", k.tool))
	}
	attributes = appendFault(attributes, p.event, k.failed)
	option := metric.WithAttributeSet(attribute.NewSet(attributes...))
	if o.kept.Add(1) <= maxOperationKeys {
		o.sets.Store(k, option)
	}
	return option
}

// appendFault appends the attributes of an operation that failed: with a JSON-RPC error, or with a result that is an error.
func appendFault(dst []attribute.KeyValue, e *mcp.Event, failed bool) []attribute.KeyValue {
	if e.Method == toolsCall {
		dst = append(dst, attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	switch {
	case e.Code != 0:
		code := strconv.Itoa(e.Code)
		return append(dst, attribute.String("error.type", code), attribute.String("rpc.response.status_code", code))
	case failed:
		return append(dst, attribute.String("error.type", toolError))
	}
	return dst
}

// message makes the span of a message that has been served, with its token check as a child.
func (t *Tracer) message(p *operation, client netip.Addr, pending *PendingCheck, now time.Time) {
	m, e, header := MessageOf(p.request, client), p.event, p.request.HTTP.Header
	ctx := propagation.TraceContext{}.Extract(context.WithoutCancel(p.request.HTTP.Context()), m.parent(header))
	attributes := m.attributes([]attribute.KeyValue{attribute.String("mcp.method.name", e.Method)}, header)
	name, failed := e.Method, false
	if p.called != nil {
		name, failed = name+" "+p.called.Tool, p.called.Failed
		attributes = append(attributes, attribute.String("gen_ai.tool.name", p.called.Tool))
	}
	begin := now.Add(-e.Duration)
	check := pending.take()
	if check != nil && check.Begin.Before(begin) {
		begin = check.Begin
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(begin),
		trace.WithAttributes(appendFault(attributes, e, failed)...))
	if check != nil {
		t.checkSpan(ctx, check)
	}
	if e.Code != 0 || failed {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(now))
}
