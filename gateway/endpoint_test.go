package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway/endpoint"
	"drawbridge/test/gatewaytest"
)

// TestEndpoints holds that each endpoint has its tools, its scopes and its resource, with or without a slash at the end, and nothing of another
// (pains row 128).
func TestEndpoints(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "show"), fmt.Sprintf(gatewaytest.EndpointsConfig, gatewaytest.Issuers(i)), service.URL)
	for _, revision := range gatewaytest.Eras {
		for _, tt := range []struct {
			path, audience, scope string
			tools                 []string // nil: no way in
			calls                 string   // what can be called
		}{
			{"/mcp", gatewaytest.ResourceURL, "mcp:tools", []string{"list", "purge", "show"}, "list show"},
			{"/mcp/shop", gatewaytest.ResourceURL + "/shop", "mcp:tools orders:admin", []string{"list", "purge", "show"}, "list show purge"},
			{"/mcp/reading", gatewaytest.ResourceURL + "/reading", "read", []string{"list", "show"}, "list show"},
			{"/mcp/reading/", gatewaytest.ResourceURL + "/reading", "read", []string{"list", "show"}, "list show"},
			{"/mcp/reading", gatewaytest.ResourceURL + "/reading", "mcp:tools", []string{"list", "show"}, ""},
			{"/mcp/reading", gatewaytest.ResourceURL, "read", nil, ""},
			{"/mcp", gatewaytest.ResourceURL + "/reading", "mcp:tools", nil, ""},
			{"/mcp/shop", gatewaytest.ResourceURL + "/reading", "mcp:tools", nil, ""},
		} {
			c := gatewaytest.NewClient(t, gatewaytest.At(tt.path, g.Handler()), revision, i.Token(t, map[string]any{"aud": tt.audience, "scope": tt.scope}))
			w := c.Send("tools/list", "", "")
			if tt.tools == nil {
				want := "https://mcp.example.com/.well-known/oauth-protected-resource" + tt.path
				if w.Code != 401 || !strings.Contains(w.Header().Get("WWW-Authenticate"), `resource_metadata="`+want+`"`) {
					t.Errorf("%s with a token for %s = %d %v", tt.path, tt.audience, w.Code, w.Header())
				}
				continue
			}
			if got := gatewaytest.ToolNames(t, w.Body.Bytes()); !slices.Equal(got, tt.tools) {
				t.Errorf("%s, %s: tools %q, want %q", tt.path, revision, got, tt.tools)
			}
			for _, tool := range []string{"list", "show", "purge"} {
				w := c.Call(tool)
				switch {
				case slices.Contains(strings.Fields(tt.calls), tool):
					if !gatewaytest.Succeeded(w) {
						t.Errorf("%s, %s, %s: %s = %d %s", tt.path, tt.scope, revision, tool, w.Code, w.Body)
					}
				case !slices.Contains(tt.tools, tool):
					if !strings.Contains(w.Body.String(), "unknown tool") {
						t.Errorf("%s: %s of another endpoint = %d %s", tt.path, tool, w.Code, w.Body)
					}
				case w.Code != 403:
					t.Errorf("%s, %s: %s = %d %s", tt.path, tt.scope, tool, w.Code, w.Body)
				}
			}
		}
	}
	for path, want := range map[string]string{
		"":             `"resource":"https://mcp.example.com/mcp",`,
		"/mcp":         `"resource":"https://mcp.example.com/mcp",`,
		"/mcp/shop":    `"resource":"https://mcp.example.com/mcp/shop",`,
		"/mcp/reading": `"scopes_supported":["read"]`,
		"/":            "404",
		"/mcp/":        `"resource":"https://mcp.example.com/mcp",`,
		"/mcp/shop/":   `"resource":"https://mcp.example.com/mcp/shop",`,
		"/mcp/nobody":  "404",
		"/mcp/nobody/": "404",
		"/shop":        "404",
	} {
		w := gatewaytest.Do(g.Handler(), http.MethodGet, "/.well-known/oauth-protected-resource"+path, nil)
		if !strings.Contains(fmt.Sprint(w.Code, w.Body), want) {
			t.Errorf("metadata %s = %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/mcp/nobody", "/mcp/nobody/", "/mcp//", "/mcp/shop//", "/mcp/shop/x", "/mcp/SHOP", "/mcp/..", "/mcp/%73hop/x"} {
		if w := gatewaytest.Do(g.Handler(), http.MethodPost, path, nil); w.Code != 404 {
			t.Errorf("%s = %d", path, w.Code)
		}
	}
}

// TestEndpointsOfAReload holds that endpoints come and go with the configuration, and keep what their clients have under
// way as long as they stay.
func TestEndpointsOfAReload(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	const cfg = "server: {instructions: All.}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nendpoints: [%s]\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "show"), fmt.Sprintf(cfg, "{name: shop, instructions: One., title: Shopping, schema_profile: portable}"), service.URL)
	introduction := func(path string) string {
		w := gatewaytest.Post(gatewaytest.At(path, g.Handler()), http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		return introductionOf(t, w)
	}
	if got := introduction("/mcp"); got != "Drawbridge: All." {
		t.Errorf("/mcp: %s", got)
	}
	if got := introduction("/mcp/shop"); got != "Shopping: One." {
		t.Errorf("/mcp/shop: %s", got)
	}
	before := g.MCPHandlers().Named("shop", "", "")
	again := func(endpoints string) *endpoint.Handler {
		d, err := g.Deployer().Deploy(gatewaytest.Configure(t, t.TempDir(), gatewaytest.Document("Shop", "list", "show"), fmt.Sprintf(cfg, endpoints), service.URL), nil)
		if err != nil {
			t.Fatal(err)
		}
		g.Publish(d)
		return g.MCPHandlers().Named("shop", "", "")
	}
	if again("{name: shop, instructions: One., title: Shopping}, {name: show, match: {operation: show}}") != before {
		t.Error("an endpoint that stayed as it was has another MCP handler")
	}
	if got := introduction("/mcp/show"); got != "Drawbridge: " {
		t.Errorf("/mcp/show: %s", got)
	}
	if again("{name: shop, instructions: Two.}") != before || introduction("/mcp/shop") != "Drawbridge: Two." {
		t.Error("what an endpoint says of itself did not change, or its MCP handler did")
	}
	if w := gatewaytest.Do(g.Handler(), http.MethodPost, "/mcp/show", nil); w.Code != 404 {
		t.Errorf("an endpoint that is gone = %d", w.Code)
	}
}

func introductionOf(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var answer struct {
		Result struct {
			Instructions string
			ServerInfo   struct{ Title string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %d %s", err, w.Code, w.Body)
	}
	return answer.Result.ServerInfo.Title + ": " + answer.Result.Instructions
}
