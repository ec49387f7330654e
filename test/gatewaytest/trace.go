package gatewaytest

import (
	"fmt"
	"net/http"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"drawbridge/gateway"
)

// These are IDs of traces and spans in headers and in _meta.
const (
	TraceOfMeta   = "11111111111111111111111111111111"
	TraceOfHeader = "22222222222222222222222222222222"
	SpanOfMeta    = "1111111111111111"
	SpanOfHeader  = "2222222222222222"
	ParentMeta    = "00-" + TraceOfMeta + "-" + SpanOfMeta + "-01"
	ParentHeader  = "00-" + TraceOfHeader + "-" + SpanOfHeader + "-01"
)

// Traced is a gateway with tracing in front of a service that notes what it gets.
func Traced(t *testing.T) (*gateway.Gateway, *RecordingService, *tracetest.SpanRecorder) {
	t.Helper()
	service, spans := NewRecordingService(t), tracetest.NewSpanRecorder()
	g, err := gateway.New(gateway.Options{Config: Configure(t, t.TempDir(), CanaryDocument, "", service.URL),
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g, service, spans
}

// TracedCall makes a call whose _meta holds more members.
func TracedCall(t *testing.T, g *gateway.Gateway, header http.Header, meta, arguments string) {
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
	w := Post(g.Handler(), h, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":%s,"_meta":{%s
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, arguments, meta))
	if w.Code != http.StatusOK {
		t.Fatalf("call = %d %s", w.Code, w.Body)
	}
}
