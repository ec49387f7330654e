package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"drawbridge/auth"
)

// TestProofHasASpanInCalls holds that a request without a call has a span of its token check, once, unless that is a proof, which each request has.
func TestProofHasASpanInCalls(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := NewTracer(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	for kind, want := range map[auth.CheckKind]int{auth.CheckProof: 0, auth.CheckSignature: 1} {
		var pending PendingCheck
		pending.Set(&auth.Check{Kind: kind, Issuer: "https://idp", Begin: time.Now(), End: time.Now()})
		r := httptest.NewRequest(http.MethodPost, "/mcp", http.NoBody)
		tracer.EndRequest(r, &pending)
		tracer.EndRequest(r, &pending)
		if told := spans.Ended(); len(told) != want {
			t.Errorf("%s: %d spans, want %d", kind, len(told), want)
		}
		spans.Reset()
	}
}
