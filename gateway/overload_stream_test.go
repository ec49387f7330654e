package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestNoStreamsWithoutMemory: when memory is short no stream is opened, in no era, and the caller is told when to come again.
func TestNoStreamsWithoutMemory(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "server: {old_transport: true}\napis: [{name: shop, spec: $SPEC}]\n", "")
	legacy := gatewaytest.NewClient(t, g.Handler(), "2025-11-25", "")
	legacy.Send("ping", "", "")
	g.Overload().PinMemory(true)
	get := func(path string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil)
		header.Set("Accept", "text/event-stream")
		r.Header, r.RemoteAddr = header, "127.0.0.1:1"
		w := httptest.NewRecorder()
		g.Handler().ServeHTTP(w, r)
		return w
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"subscriptions/listen": gatewaytest.Post(g.Handler(), http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}, listenBody),
		"GET of a session": get("/mcp", http.Header{"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Session-Id": {legacy.Session}}),
		"old transport":    get("/sse", http.Header{}),
	} {
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "10" || !strings.Contains(w.Body.String(), "there is no room for more streams") {
			t.Errorf("%s: %d %v %s", name, w.Code, w.Header(), w.Body)
		}
	}
	if n := counted(t, g.Counters().Refused[telemetry.RefusedMemory]); n != 3 {
		t.Errorf("%v refusals counted", n)
	}
}
