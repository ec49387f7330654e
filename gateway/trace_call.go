package gateway

import (
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// maxTraceState is the most of tracestate that goes on, in bytes: what W3C Trace Context section 3.3.1.5 asks for.
const maxTraceState = 512

// traceParent returns the caller's trace context: that of params._meta, else that of the HTTP headers, which belongs to whatever
// carried the request. Of two nobody knows which is right, so neither counts (W3C Trace Context section 3.2). What is not W3C
// syntax is dropped by the propagator. Baggage is not looked at: it is the caller's, and services would take it for the gateway's (O13).
func (c *call) traceParent() propagation.MapCarrier {
	if parent := c.req.Meta.TraceParent; parent != "" {
		return carry(parent, c.req.Meta.TraceState)
	}
	return headerParent(c.req.HTTP.Header)
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

// startTrace begins the span of the call. Where nobody takes spans the caller's trace context goes on to the service as it came, so that the gateway
// is no gap in a trace.
func (c *call) startTrace() {
	if c.g.tracer != nil {
		c.startSpan()
		return
	}
	if parent := c.traceParent(); parent != nil {
		c.ctx = propagation.TraceContext{}.Extract(c.ctx, parent)
	}
}

// startSpan begins the span of the call. Its names are those of the semantic conventions for MCP servers; arguments, and URIs,
// which hold some, are in none of them.
func (c *call) startSpan() {
	ctx := propagation.TraceContext{}.Extract(c.ctx, c.traceParent())
	attributes := append(make([]attribute.KeyValue, 0, 5),
		attribute.String("mcp.method.name", c.req.Method),
		attribute.String("gen_ai.tool.name", c.plan.Tool.Name),
		attribute.String("mcp.protocol.version", c.req.Revision),
		attribute.String("drawbridge.api", c.plan.Tool.API),
	)
	if c.req.Method == "tools/call" {
		attributes = append(attributes, attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	options := append(make([]trace.SpanStartOption, 0, 3), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
	check := checkOf(c.ctx)
	if check != nil {
		options = append(options, trace.WithTimestamp(check.Begin))
	}
	c.ctx, c.span = c.g.tracer.Start(ctx, c.req.Method+" "+c.plan.Tool.Name, options...)
	if check != nil {
		c.g.checkSpan(c.ctx, check)
	}
}

// tellSpan tells the span how the call has ended. That a service goes on, or the user is asked first, is no error.
func (c *call) tellSpan(o outcome) {
	c.span.SetAttributes(attribute.String("drawbridge.outcome", string(o)))
	if o == outcomeOK || o == outcomeJob || o == outcomeAsked {
		return
	}
	c.span.SetStatus(codes.Error, string(o))
	kind := string(o)
	if c.req.Method == "tools/call" {
		kind = "tool_error" // a result with isError, whatever it was
	}
	c.span.SetAttributes(attribute.String("error.type", kind))
}
