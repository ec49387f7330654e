package endpoint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

const infoConfig = `server:
  manifest: true
  info:
    name: acme
    title: Acme tools
    description: Orders and invoices.
    website: https://acme.example/tools
    icons: [{src: "https://acme.example/icon.png", sizes: [48x48], theme: dark}, "data:image/png;base64,iVBORw0KGgo="]
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
endpoints: [{name: shop, title: Shopping, info: {name: acme-shop, description: Orders.}}]
`

// TestServerInfo holds that clients of each revision get the members of the server's identity that it defines, and that
// an endpoint has its own.
func TestServerInfo(t *testing.T) {
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), infoConfig, "http://127.0.0.1:1")
	const icons = `[{"src":"https://acme.example/icon.png","sizes":["48x48"],"theme":"dark"},{"src":"data:image/png;base64,iVBORw0KGgo=","mimeType":"image/png"}]`
	for _, tt := range []struct{ path, revision, want string }{
		{"/mcp", "2024-11-05", `{"name":"acme","version":"1.0.0"}`},
		{"/mcp", "2025-03-26", `{"name":"acme","version":"1.0.0"}`},
		{"/mcp", "2025-06-18", `{"name":"acme","title":"Acme tools","version":"1.0.0"}`},
		{"/mcp", "2025-11-25", `{"name":"acme","title":"Acme tools","version":"1.0.0","description":"Orders and invoices.","websiteUrl":"https://acme.example/tools","icons":` + icons + `}`},
		{"/mcp/shop", "2025-06-18", `{"name":"acme-shop","title":"Shopping","version":"1.0.0"}`},
		{"/mcp/shop", "2025-11-25", `{"name":"acme-shop","title":"Shopping","version":"1.0.0","description":"Orders.","websiteUrl":"https://acme.example/tools","icons":` + icons + `}`},
	} {
		w := gatewaytest.Post(gatewaytest.At(tt.path, g.Handler()), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
			fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, tt.revision))
		var answer struct {
			Result struct{ ServerInfo json.RawMessage }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || string(answer.Result.ServerInfo) != tt.want {
			t.Errorf("%s, %s: %v %s", tt.path, tt.revision, err, answer.Result.ServerInfo)
		}
	}
	// Each result of 2026-07-28 has the identity; the whole of it is in that of server/discover.
	for method, want := range map[string]string{
		"server/discover": `{"name":"acme","title":"Acme tools","version":"1.0.0","description":"Orders and invoices.","websiteUrl":"https://acme.example/tools","icons":` + icons + `}`,
		"tools/list":      `{"name":"acme","title":"Acme tools","version":"1.0.0"}`,
	} {
		_, body := gatewaytest.Ask(t, g.Handler(), "2026-07-28", method, "", "")
		if !strings.Contains(string(body), `"io.modelcontextprotocol/serverInfo":`+want+`}`) {
			t.Errorf("%s: %s", method, body)
		}
	}
	w := gatewaytest.Do(g.Handler(), http.MethodGet, "/.well-known/mcp/manifest", nil)
	if body := w.Body.String(); !strings.Contains(body, `"name":"acme","title":"Acme tools","description":"Orders and invoices."`) {
		t.Errorf("manifest: %s", body)
	}
}
