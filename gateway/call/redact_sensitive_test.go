package call_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestSensitiveEvents holds that what is told of events while they arrive has nothing of what is hidden, by name or by place.
func TestSensitiveEvents(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, `{"progress":1,"total":3,"message":"SECRET"}`+"\n"+`{"progress":2,"total":3,"log":{"level":"error","text":"SECRET"}}`+"\n"+`{"progress":3,"total":3,"x":"SECRET"}`+"\n")
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+
		`rules: [{match: {method: GET}, set: {sensitive_fields: [message, x, "/*/log/text"]}}]`+"\n", service.URL)
	w := gatewaytest.Post(g.Handler(), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"list"},
	}, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{},"_meta":{"progressToken":"p",`+
		`"io.modelcontextprotocol/logLevel":%q,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, "debug"))
	body := w.Body.String()
	if !strings.Contains(body, `"progress":3`) || !strings.Contains(body, "structuredContent") || strings.Contains(body, "SECRET") {
		t.Errorf("%s", body)
	}
}

// TestManyWithheldEvents: to hide many short events makes an answer little larger than it came.
func TestManyWithheldEvents(t *testing.T) {
	const came = "data:id\n\n"
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, strings.Repeat(came, 100_000))
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+
		`rules: [{match: {method: GET}, set: {sensitive_fields: [id]}}]`+"\n", service.URL)
	_, answer := gatewaytest.Ask(t, g.Handler(), gatewaytest.Eras[0], "tools/call", "list", `"name":"list","arguments":{}`)
	text := string(answer)
	if strings.Count(text, "withheld by the gateway") < 1 || strings.Contains(text, `"id\"`) {
		t.Errorf("%.300s", text)
	}
	// It is in the answer twice, once with its quotation marks escaped.
	if most := 2 * 2 * len(came) * 100_000; len(text) > most {
		t.Errorf("%d bytes of %d, want %d at most", len(text), len(came)*100_000, most)
	}
}
