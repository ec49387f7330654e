package telemetry

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/auth"
)

// maxTraceState is the longest tracestate that is passed on, in bytes: the minimum of W3C Trace Context section 3.3.1.5.
const maxTraceState = 512

// toolsCall is the method of calls of tools.
const toolsCall = "tools/call"

// toolError is the error.type of a result with isError, whatever it was.
const toolError = "tool_error"

// Tracer makes the spans of calls and token checks. A nil Tracer makes none. It is safe for concurrent use.
type Tracer struct {
	tracer trace.Tracer
	failed failedChecks
}

// NewTracer returns a tracer of the provider; nil if p is nil.
func NewTracer(p trace.TracerProvider) *Tracer {
	if p == nil {
		return nil
	}
	return &Tracer{tracer: p.Tracer("drawbridge")}
}

// CallSpan describes the span of a call.
type CallSpan struct {
	Method, Tool, API string
	// Via is the built-in tool through which Tool was called; "" if it was called by its own name.
	Via string
	// Message is that of the call, Header that of its HTTP request.
	Message Message
	Header  http.Header
}

// parent returns the caller's trace context: that of params._meta, else that of the HTTP headers, which belongs to the proxy or program that
// carried the request. Of two it is unknown which is right, so neither counts (W3C Trace Context section 3.2). The propagator drops
// what is not W3C syntax. Baggage is ignored: it is the caller's, and services would take it for the gateway's (O13).
func (m *Message) parent(h http.Header) propagation.MapCarrier {
	if m.TraceParent != "" {
		return carry(m.TraceParent, m.TraceState)
	}
	return headerParent(h)
}

// headerParent returns the trace context of a request's headers.
func headerParent(h http.Header) propagation.MapCarrier {
	lines := h["Traceparent"]
	if len(lines) != 1 {
		return nil
	}
	return carry(lines[0], strings.Join(h["Tracestate"], ","))
}

func carry(parent, state string) propagation.MapCarrier {
	if len(state) > maxTraceState {
		state = ""
	}
	return propagation.MapCarrier{"traceparent": parent, "tracestate": state}
}

// StartCall begins the span of a call, with the token check that pending holds, if any, as its child. Its names are those of the semantic
// conventions for MCP servers; no attribute holds arguments, or URIs, which contain some. A nil Tracer returns no span, and passes the caller's
// trace context on to the service as it came, so that the gateway is no gap in a trace.
func (t *Tracer) StartCall(ctx context.Context, s CallSpan, pending *PendingCheck) (context.Context, trace.Span) {
	parent := s.Message.parent(s.Header)
	if t == nil {
		if parent != nil {
			ctx = propagation.TraceContext{}.Extract(ctx, parent)
		}
		return ctx, nil
	}
	ctx = propagation.TraceContext{}.Extract(ctx, parent)
	attributes := append(make([]attribute.KeyValue, 0, 12),
		attribute.String("mcp.method.name", s.Method),
		attribute.String("gen_ai.tool.name", s.Tool),
	)
	attributes = s.Message.attributes(attributes, s.Header)
	if s.API != "" {
		attributes = append(attributes, attribute.String("drawbridge.api", s.API))
	}
	if s.Via != "" {
		attributes = append(attributes, attribute.String("drawbridge.via", s.Via))
	}
	if s.Method == toolsCall {
		attributes = append(attributes, attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	options := append(make([]trace.SpanStartOption, 0, 3), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
	var check *auth.Check
	if pending != nil {
		check = pending.take()
	}
	if check != nil {
		options = append(options, trace.WithTimestamp(check.Begin))
	}
	ctx, span := t.tracer.Start(ctx, s.Method+" "+s.Tool, options...)
	if check != nil {
		t.checkSpan(ctx, check)
	}
	return ctx, span
}

// SetOutcome sets the outcome of a call of a method on its span.
func SetOutcome(span trace.Span, method string, o Outcome) {
	span.SetAttributes(attribute.String("drawbridge.outcome", string(o)))
	if o.Good() {
		return
	}
	span.SetStatus(codes.Error, string(o))
	kind := string(o)
	if method == toolsCall {
		kind = toolError
	}
	span.SetAttributes(attribute.String("error.type", kind))
}
