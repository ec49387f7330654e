package gateway

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestSensitiveEvents holds that what is told of events while they arrive has nothing of what is hidden, by name or by place.
func TestSensitiveEvents(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, `{"progress":1,"total":3,"message":"SECRET"}`+"\n"+`{"progress":2,"total":3,"log":{"level":"error","text":"SECRET"}}`+"\n"+`{"progress":3,"total":3,"x":"SECRET"}`+"\n")
	}))
	defer service.Close()
	g := start(t, document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+
		`rules: [{match: {method: GET}, set: {sensitive_fields: [message, x, "/*/log/text"]}}]`+"\n", service.URL)
	w := post(g.Handler(), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"list"},
	}, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{},"_meta":{"progressToken":"p",`+
		`"io.modelcontextprotocol/logLevel":%q,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, "debug"))
	body := w.Body.String()
	if !strings.Contains(body, `"progress":3`) || !strings.Contains(body, "structuredContent") || strings.Contains(body, "SECRET") {
		t.Errorf("%s", body)
	}
}
