package call_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/test/gatewaytest"
)

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
		{name: "header", header: http.Header{"Traceparent": {gatewaytest.ParentHeader}, "Tracestate": {"a=1"}}, trace: gatewaytest.TraceOfHeader, parent: gatewaytest.SpanOfHeader, state: "a=1"},
		{name: "meta", meta: `"traceparent":"` + gatewaytest.ParentMeta + `","tracestate":"b=2",`, trace: gatewaytest.TraceOfMeta, parent: gatewaytest.SpanOfMeta, state: "b=2"},
		{name: "both", header: http.Header{"Traceparent": {gatewaytest.ParentHeader}, "Tracestate": {"a=1"}}, meta: `"traceparent":"` + gatewaytest.ParentMeta + `",`,
			trace: gatewaytest.TraceOfMeta, parent: gatewaytest.SpanOfMeta},
		{name: "bad header", header: http.Header{"Traceparent": {"00-" + gatewaytest.TraceOfHeader + "-01"}}},
		{name: "zero header", header: http.Header{"Traceparent": {"00-00000000000000000000000000000000-" + gatewaytest.SpanOfHeader + "-01"}}},
		{name: "bad meta", meta: `"traceparent":"00-xyz","tracestate":"b=2",`},
		{name: "upper case meta", meta: `"traceparent":"` + strings.Replace(gatewaytest.ParentMeta, "1111", "ABCD", 1) + `",`},
		{name: "meta of another type", meta: `"traceparent":17,"tracestate":{},`},
		{name: "two headers", header: http.Header{"Traceparent": {gatewaytest.ParentHeader, gatewaytest.ParentMeta}}},
		{name: "a long state", meta: `"traceparent":"` + gatewaytest.ParentMeta + `","tracestate":"a=` + strings.Repeat("x", 250) + `,b=` + strings.Repeat("x", 250) + `,c=` + strings.Repeat("x", 20) + `",`,
			trace: gatewaytest.TraceOfMeta, parent: gatewaytest.SpanOfMeta},
		{name: "two lines of state", header: http.Header{"Traceparent": {gatewaytest.ParentHeader}, "Tracestate": {"a=1", "b=2"}}, trace: gatewaytest.TraceOfHeader, parent: gatewaytest.SpanOfHeader, state: "a=1,b=2"},
		{name: "lines in meta", meta: `"traceparent":"` + gatewaytest.ParentMeta + `\r\nX-Evil: 1","tracestate":"b=2",`},
		{name: "lines in the state", meta: `"traceparent":"` + gatewaytest.ParentMeta + `","tracestate":"b=2\r\nX-Evil: 1",`, trace: gatewaytest.TraceOfMeta, parent: gatewaytest.SpanOfMeta},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, service, spans := gatewaytest.Traced(t)
			header := tt.header.Clone()
			if header == nil {
				header = http.Header{}
			}
			header.Set("Baggage", "user=baggage-canary")
			gatewaytest.TracedCall(t, g, header, tt.meta+`"baggage":"user=baggage-canary",`, `{"id":"argument-canary","q":"argument-canary","note":"argument-canary"}`)
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
				if id := server.SpanContext().TraceID().String(); server.Parent().IsValid() || id == gatewaytest.TraceOfMeta || id == gatewaytest.TraceOfHeader {
					t.Errorf("the server span has the parent %v, want a new trace", server.Parent())
				}
			} else if got := server.Parent(); got.TraceID().String() != tt.trace || got.SpanID().String() != tt.parent || !got.IsRemote() ||
				server.SpanContext().TraceID() != got.TraceID() {
				t.Errorf("the server span has the parent %v, want %s in %s", got, tt.parent, tt.trace)
			}
			requests := service.Taken()
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
				"jsonrpc.request.id": "1", "client.address": "127.0.0.1", "network.transport": "tcp", "network.protocol.name": "http", "network.protocol.version": "1.1",
			}, attributes); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpanOfAFailedCall tells the kind of failure, not its text.
func TestSpanOfAFailedCall(t *testing.T) {
	g, service, spans := gatewaytest.Traced(t)
	gatewaytest.TracedCall(t, g, nil, "", `{"id":17}`)
	ended := spans.Ended()
	if len(ended) != 1 || len(service.Taken()) != 0 {
		t.Fatalf("%d spans, want that of the call alone", len(ended))
	}
	if got := fmt.Sprint(ended[0].Attributes()); !strings.Contains(got, "tool_error") {
		t.Errorf("attributes %s", got)
	}
	if s := ended[0].Status(); s.Code != codes.Error || s.Description != "bad_arguments" {
		t.Errorf("status %+v", s)
	}
}

// TestUnsampledCaller leaves the decision to the caller, who may be one of thousands.
func TestUnsampledCaller(t *testing.T) {
	g, service, spans := gatewaytest.Traced(t)
	gatewaytest.TracedCall(t, g, nil, `"traceparent":"`+strings.TrimSuffix(gatewaytest.ParentMeta, "1")+`0",`, `{"id":"x"}`)
	if n := len(spans.Ended()); n != 0 {
		t.Errorf("%d spans of a trace that is not sampled", n)
	}
	if got := service.Taken()[0].Header.Get("Traceparent"); !strings.HasPrefix(got, "00-"+gatewaytest.TraceOfMeta+"-") || !strings.HasSuffix(got, "-00") {
		t.Errorf("the service got %q, want the same trace, not sampled", got)
	}
}
