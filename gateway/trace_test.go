package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/telemetry"
)

const (
	traceOfMeta   = "11111111111111111111111111111111"
	traceOfHeader = "22222222222222222222222222222222"
	spanOfMeta    = "1111111111111111"
	spanOfHeader  = "2222222222222222"
	parentMeta    = "00-" + traceOfMeta + "-" + spanOfMeta + "-01"
	parentHeader  = "00-" + traceOfHeader + "-" + spanOfHeader + "-01"
)

// traced is a gateway with tracing in front of a service that notes what it gets.
func traced(t *testing.T) (*Gateway, *recordingService, *tracetest.SpanRecorder) {
	t.Helper()
	service, spans := newRecordingService(t), tracetest.NewSpanRecorder()
	g, err := New(Options{Config: configure(t, t.TempDir(), canaryDocument, "", service.URL),
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g, service, spans
}

// tracedCall makes a call whose _meta holds more members.
func tracedCall(t *testing.T, g *Gateway, header http.Header, meta, arguments string) {
	t.Helper()
	h := header.Clone()
	if h == nil {
		h = http.Header{}
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28",
		"Mcp-Method": "tools/call", "Mcp-Name": "ok",
	} {
		h.Set(name, value)
	}
	w := post(g.Handler(), h, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":%s,"_meta":{%s
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, arguments, meta))
	if w.Code != http.StatusOK {
		t.Fatalf("call = %d %s", w.Code, w.Body)
	}
}

// TestSpans demands one server span and one client span a call, below the caller's span: that of _meta before that
// of the HTTP header, which belongs to whatever carried the request.
func TestSpans(t *testing.T) {
	for _, tt := range []struct {
		name          string
		header        http.Header
		meta          string
		trace, parent string // "": a new trace
		state         string // what the service gets
	}{
		{name: "nothing"},
		{name: "header", header: http.Header{"Traceparent": {parentHeader}, "Tracestate": {"a=1"}}, trace: traceOfHeader, parent: spanOfHeader, state: "a=1"},
		{name: "meta", meta: `"traceparent":"` + parentMeta + `","tracestate":"b=2",`, trace: traceOfMeta, parent: spanOfMeta, state: "b=2"},
		{name: "both", header: http.Header{"Traceparent": {parentHeader}, "Tracestate": {"a=1"}}, meta: `"traceparent":"` + parentMeta + `",`,
			trace: traceOfMeta, parent: spanOfMeta},
		{name: "bad header", header: http.Header{"Traceparent": {"00-" + traceOfHeader + "-01"}}},
		{name: "zero header", header: http.Header{"Traceparent": {"00-00000000000000000000000000000000-" + spanOfHeader + "-01"}}},
		{name: "bad meta", meta: `"traceparent":"00-xyz","tracestate":"b=2",`},
		{name: "upper case meta", meta: `"traceparent":"` + strings.Replace(parentMeta, "1111", "ABCD", 1) + `",`},
		{name: "meta of another type", meta: `"traceparent":17,"tracestate":{},`},
		{name: "two headers", header: http.Header{"Traceparent": {parentHeader, parentMeta}}},
		{name: "a long state", meta: `"traceparent":"` + parentMeta + `","tracestate":"a=` + strings.Repeat("x", 250) + `,b=` + strings.Repeat("x", 250) + `,c=` + strings.Repeat("x", 20) + `",`,
			trace: traceOfMeta, parent: spanOfMeta},
		{name: "two lines of state", header: http.Header{"Traceparent": {parentHeader}, "Tracestate": {"a=1", "b=2"}}, trace: traceOfHeader, parent: spanOfHeader, state: "a=1,b=2"},
		{name: "lines in meta", meta: `"traceparent":"` + parentMeta + `\r\nX-Evil: 1","tracestate":"b=2",`},
		{name: "lines in the state", meta: `"traceparent":"` + parentMeta + `","tracestate":"b=2\r\nX-Evil: 1",`, trace: traceOfMeta, parent: spanOfMeta},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, service, spans := traced(t)
			header := tt.header.Clone()
			if header == nil {
				header = http.Header{}
			}
			header.Set("Baggage", "user=baggage-canary")
			tracedCall(t, g, header, tt.meta+`"baggage":"user=baggage-canary",`, `{"id":"argument-canary","q":"argument-canary","note":"argument-canary"}`)
			ended := spans.Ended()
			if len(ended) != 2 {
				t.Fatalf("%d spans, want 2", len(ended))
			}
			client, server := ended[0], ended[1]
			if server.Name() != "tools/call ok" || server.SpanKind() != trace.SpanKindServer || server.Status().Code != codes.Unset {
				t.Errorf("server span %q, %v, %v", server.Name(), server.SpanKind(), server.Status())
			}
			if client.Name() != "POST /ok/{id}" || client.SpanKind() != trace.SpanKindClient || client.Parent().SpanID() != server.SpanContext().SpanID() {
				t.Errorf("client span %q, %v, below %s", client.Name(), client.SpanKind(), client.Parent().SpanID())
			}
			if tt.trace == "" {
				if id := server.SpanContext().TraceID().String(); server.Parent().IsValid() || id == traceOfMeta || id == traceOfHeader {
					t.Errorf("the server span has the parent %v, want a new trace", server.Parent())
				}
			} else if got := server.Parent(); got.TraceID().String() != tt.trace || got.SpanID().String() != tt.parent || !got.IsRemote() ||
				server.SpanContext().TraceID() != got.TraceID() {
				t.Errorf("the server span has the parent %v, want %s in %s", got, tt.parent, tt.trace)
			}
			requests := service.taken()
			if len(requests) != 1 {
				t.Fatalf("%d requests", len(requests))
			}
			got := requests[0].Header
			want := fmt.Sprintf("00-%s-%s-01", server.SpanContext().TraceID(), client.SpanContext().SpanID())
			if got.Get("Traceparent") != want || got.Get("Tracestate") != tt.state || got.Get("Baggage") != "" || got.Get("X-Evil") != "" {
				t.Errorf("the service got %v, want Traceparent %s, Tracestate %q", got, want, tt.state)
			}
			attributes := map[string]string{}
			for _, s := range ended {
				if text := fmt.Sprint(s.Attributes(), s.Events(), s.Status(), s.Name()); strings.Contains(text, "canary") {
					t.Errorf("span %s tells %s", s.Name(), text)
				}
			}
			for _, a := range server.Attributes() {
				attributes[string(a.Key)] = a.Value.String()
			}
			told := map[string]string{}
			for _, a := range client.Attributes() {
				told[string(a.Key)] = a.Value.String()
			}
			for name, want := range map[string]string{"http.request.method": "POST", "url.template": "/ok/{id}", "http.response.status_code": "200", "server.address": "127.0.0.1"} {
				if told[name] != want {
					t.Errorf("client span: %s is %q, want %q: %v", name, told[name], want, told)
				}
			}
			if diff := cmp.Diff(map[string]string{
				"mcp.method.name": "tools/call", "gen_ai.tool.name": "ok", "mcp.protocol.version": "2026-07-28", "gen_ai.operation.name": "execute_tool",
				"drawbridge.api": "shop", "drawbridge.outcome": "ok",
			}, attributes); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpanOfAFailedCall tells the kind of failure, not its text.
func TestSpanOfAFailedCall(t *testing.T) {
	g, service, spans := traced(t)
	tracedCall(t, g, nil, "", `{"id":17}`)
	ended := spans.Ended()
	if len(ended) != 1 || len(service.taken()) != 0 {
		t.Fatalf("%d spans, want that of the call alone", len(ended))
	}
	if got := fmt.Sprint(ended[0].Attributes()); !strings.Contains(got, "tool_error") {
		t.Errorf("attributes %s", got)
	}
	if s := ended[0].Status(); s.Code != codes.Error || s.Description != "bad_arguments" {
		t.Errorf("status %+v", s)
	}
}

// TestSpanOfNoFailure: a job that goes on, and a question to the user, are no errors.
func TestSpanOfNoFailure(t *testing.T) {
	g, _, spans := traced(t)
	for _, o := range []telemetry.Outcome{telemetry.OutcomeOK, telemetry.OutcomeJob, telemetry.OutcomeAsked} {
		_, span := g.tracer.StartCall(t.Context(), telemetry.CallSpan{Method: "tools/call", Tool: string(o)}, nil)
		telemetry.SetOutcome(span, "tools/call", o)
		span.End()
	}
	for _, s := range spans.Ended() {
		if s.Status().Code != codes.Unset || strings.Contains(fmt.Sprint(s.Attributes()), "error.type") {
			t.Errorf("%s: %v %v", s.Name(), s.Status(), s.Attributes())
		}
	}
}

// TestUnsampledCaller leaves the decision to the caller, who may be one of thousands.
func TestUnsampledCaller(t *testing.T) {
	g, service, spans := traced(t)
	tracedCall(t, g, nil, `"traceparent":"`+strings.TrimSuffix(parentMeta, "1")+`0",`, `{"id":"x"}`)
	if n := len(spans.Ended()); n != 0 {
		t.Errorf("%d spans of a trace that is not sampled", n)
	}
	if got := service.taken()[0].Header.Get("Traceparent"); !strings.HasPrefix(got, "00-"+traceOfMeta+"-") || !strings.HasSuffix(got, "-00") {
		t.Errorf("the service got %q, want the same trace, not sampled", got)
	}
}

// TestNoTracing: where nobody takes spans the caller's trace context goes on as it came, and the audit log has its trace.
func TestNoTracing(t *testing.T) {
	for _, tt := range []struct {
		name, meta           string
		header               http.Header
		parent, state, trace string
	}{
		{name: "none", header: http.Header{"Tracestate": {"a=1"}, "Baggage": {"a=b"}}},
		{name: "header", header: http.Header{"Traceparent": {parentHeader}, "Tracestate": {"a=1"}, "Baggage": {"a=b"}}, parent: parentHeader, state: "a=1", trace: traceOfHeader},
		{name: "meta", header: http.Header{"Traceparent": {parentHeader}, "Tracestate": {"a=1"}}, meta: `"traceparent":"` + parentMeta + `","tracestate":"b=2",`,
			parent: parentMeta, state: "b=2", trace: traceOfMeta},
		{name: "two", header: http.Header{"Traceparent": {parentHeader, parentMeta}}},
		{name: "no W3C syntax", header: http.Header{"Traceparent": {"00-x-y-01"}}},
		{name: "not sampled", header: http.Header{"Traceparent": {strings.TrimSuffix(parentHeader, "1") + "0"}}, parent: strings.TrimSuffix(parentHeader, "1") + "0", trace: traceOfHeader},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service := newRecordingService(t)
			g := start(t, canaryDocument, "", service.URL)
			line := auditOf(t, g, func() { tracedCall(t, g, tt.header, tt.meta, `{"id":"x"}`) })
			h := service.taken()[0].Header
			if h.Get("Traceparent") != tt.parent || h.Get("Tracestate") != tt.state || h.Get("Baggage") != "" {
				t.Errorf("the service got %v", h)
			}
			if told := strings.Contains(line, `"trace":`); told != (tt.trace != "") || !strings.Contains(line, tt.trace) {
				t.Errorf("the audit log has %s", line)
			}
		})
	}
}
