package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"

	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestSpanOfNoFailure: a job that goes on, and a question to the user, are no errors.
func TestSpanOfNoFailure(t *testing.T) {
	g, _, spans := gatewaytest.Traced(t)
	for _, o := range []telemetry.Outcome{telemetry.OutcomeOK, telemetry.OutcomeJob, telemetry.OutcomeAsked} {
		_, span := g.Tracer().StartCall(t.Context(), telemetry.CallSpan{Method: "tools/call", Tool: string(o)}, nil)
		telemetry.SetOutcome(span, "tools/call", o)
		span.End()
	}
	for _, s := range spans.Ended() {
		if s.Status().Code != codes.Unset || strings.Contains(fmt.Sprint(s.Attributes()), "error.type") {
			t.Errorf("%s: %v %v", s.Name(), s.Status(), s.Attributes())
		}
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
		{name: "header", header: http.Header{"Traceparent": {gatewaytest.ParentHeader}, "Tracestate": {"a=1"}, "Baggage": {"a=b"}}, parent: gatewaytest.ParentHeader, state: "a=1", trace: gatewaytest.TraceOfHeader},
		{name: "meta", header: http.Header{"Traceparent": {gatewaytest.ParentHeader}, "Tracestate": {"a=1"}}, meta: `"traceparent":"` + gatewaytest.ParentMeta + `","tracestate":"b=2",`,
			parent: gatewaytest.ParentMeta, state: "b=2", trace: gatewaytest.TraceOfMeta},
		{name: "two", header: http.Header{"Traceparent": {gatewaytest.ParentHeader, gatewaytest.ParentMeta}}},
		{name: "no W3C syntax", header: http.Header{"Traceparent": {"00-x-y-01"}}},
		{name: "not sampled", header: http.Header{"Traceparent": {strings.TrimSuffix(gatewaytest.ParentHeader, "1") + "0"}}, parent: strings.TrimSuffix(gatewaytest.ParentHeader, "1") + "0", trace: gatewaytest.TraceOfHeader},
	} {
		t.Run(tt.name, func(t *testing.T) {
			service := gatewaytest.NewRecordingService(t)
			g := gatewaytest.Start(t, gatewaytest.CanaryDocument, "", service.URL)
			line := auditOf(t, g, func() { gatewaytest.TracedCall(t, g, tt.header, tt.meta, `{"id":"x"}`) })
			h := service.Taken()[0].Header
			if h.Get("Traceparent") != tt.parent || h.Get("Tracestate") != tt.state || h.Get("Baggage") != "" {
				t.Errorf("the service got %v", h)
			}
			if told := strings.Contains(line, `"trace":`); told != (tt.trace != "") || !strings.Contains(line, tt.trace) {
				t.Errorf("the audit log has %s", line)
			}
		})
	}
}
