package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// postMethod posts a request of revision 2026-07-28.
func postMethod(g *gateway.Gateway, method, params string) {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if strings.Contains(params, `"name":"ok"`) {
		h.Set("Mcp-Name", "ok")
	}
	gatewaytest.Post(g.Handler(), h, fmt.Sprintf(`{"jsonrpc":"2.0","id":"a-7","method":%q,"params":{%s"_meta":{"traceparent":%q,
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, method, params, gatewaytest.ParentMeta))
}

// TestEveryMessageHasASpan: a request that calls no tool has a span below the client's, one that calls a tool has one, and one that fails
// before the call begins has one too.
func TestEveryMessageHasASpan(t *testing.T) {
	t.Parallel()
	wanted := map[string]string{"jsonrpc.request.id": "a-7", "network.transport": "tcp", "mcp.protocol.version": "2026-07-28", "network.protocol.name": "http"}
	for _, tt := range []struct {
		method, params, name, fault string
	}{
		{method: "tools/list", name: "tools/list"},
		{method: "server/discover", name: "server/discover"},
		{method: "tools/call", params: `"name":"ok","arguments":{"id":"x"},`, name: "tools/call ok"},
		{method: "tools/call", params: `"name":"ok","arguments":3,`, name: "tools/call", fault: "-32602"},
		{method: "tools/call", params: `"name":"ok","arguments":{"id":"x","n":[]},`, name: "tools/call ok", fault: "tool_error"},
	} {
		t.Run(tt.name+tt.fault, func(t *testing.T) {
			t.Parallel()
			g, _, spans := gatewaytest.Traced(t)
			postMethod(g, tt.method, tt.params)
			var servers []string
			for _, s := range spans.Ended() {
				if s.SpanKind() != trace.SpanKindServer {
					continue
				}
				servers = append(servers, s.Name())
				got := map[string]string{}
				for _, a := range s.Attributes() {
					got[string(a.Key)] = a.Value.String()
				}
				for name, want := range wanted {
					if got[name] != want {
						t.Errorf("%s has %s %q, want %q", s.Name(), name, got[name], want)
					}
				}
				if s.Parent().SpanID().String() != gatewaytest.SpanOfMeta {
					t.Errorf("%s is not below the client's span", s.Name())
				}
				if failed := s.Status().Code == codes.Error; failed != (tt.fault != "") || got["error.type"] != tt.fault {
					t.Errorf("%s: %v, %v", s.Name(), s.Status(), got)
				}
			}
			if len(servers) != 1 || servers[0] != tt.name {
				t.Errorf("spans %q, want one of %q", servers, tt.name)
			}
		})
	}
}

// TestOperationDuration: the histogram of the conventions has each request by its method, and a call by its tool and error.
func TestOperationDuration(t *testing.T) {
	t.Parallel()
	reader := sdkmetric.NewManualReader()
	service := gatewaytest.NewRecordingService(t)
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.CanaryDocument, "", service.URL),
		MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	postMethod(g, "tools/list", "")
	postMethod(g, "tools/call", `"name":"ok","arguments":{"id":"x"},`)
	postMethod(g, "tools/call", `"name":"ok","arguments":{"id":"x"},`)
	postMethod(g, "tools/call", `"name":"ok","arguments":3,`)
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	counts := map[string]uint64{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name != "mcp.server.operation.duration" || m.Unit != "s" {
			t.Errorf("%s in %s", m.Name, m.Unit)
		}
		for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints { //nolint:forcetypeassert // the only kind
			value := func(name string) string {
				for _, a := range p.Attributes.ToSlice() {
					if string(a.Key) == name {
						return a.Value.AsString()
					}
				}
				return "-"
			}
			counts[value("mcp.method.name")+" "+value("gen_ai.tool.name")+" "+value("error.type")+" "+value("network.transport")] = p.Count
		}
	}
	want := map[string]uint64{"tools/list - - tcp": 1, "tools/call ok - tcp": 2, "tools/call - -32602 tcp": 1}
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", counts, want)
	}
}
