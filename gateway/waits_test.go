package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestWaitsAreAccounted: what waits for its user is bounded for each caller and in all, at all endpoints together, and what is one too
// many is counted and told, as a call or as a prompt.
func TestWaitsAreAccounted(t *testing.T) {
	for _, tt := range []struct {
		limits  string
		others  bool // somebody else waits
		waiting int
		status  int
		word    telemetry.RefusalReason
	}{
		{"{max_calls: 1}", true, 1, http.StatusServiceUnavailable, telemetry.RefusedWaits},
		{"{}", false, 32, http.StatusTooManyRequests, telemetry.RefusedCallerWaits},
	} {
		t.Run(string(tt.word), func(t *testing.T) {
			i := gatewaytest.NewIDP(t)
			g := gatewaytest.Start(t, gatewaytest.ConfirmDocument, fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: "http://127.0.0.1:1"}]
tools: {confirm: destructive}
endpoints: [{name: shop, match: {operation: cancel}}]
prompts: [{name: visit, arguments: [{name: customer, required: true}], inputs: [{key: who, message: "Who?", arguments: [customer]}], messages: [{text: "{{customer}}"}]}]
limits: %s
`, gatewaytest.PublicURL, gatewaytest.Issuers(i), tt.limits), "")
			told := withAudit(t, g)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Host = "mcp.example.com"
				g.Handler().ServeHTTP(w, r)
			}))
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			session := ""
			send := func(path, token, method, params string) *http.Response {
				t.Helper()
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+path, strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))
				if err != nil {
					t.Fatal(err)
				}
				r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer " + token}}
				if session != "" {
					r.Header.Set("Mcp-Session-Id", session)
				}
				resp, err := server.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				return resp
			}
			begin := func(path, token string) {
				t.Helper()
				session = ""
				resp := send(path, token, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}`)
				_ = resp.Body.Close()
				session = resp.Header.Get("Mcp-Session-Id")
			}
			const call = `{"name":"cancel","arguments":{"id":7}}`
			aud := []string{gatewaytest.PublicURL + "/mcp", gatewaytest.PublicURL + "/mcp/shop"}
			alice := i.Token(t, map[string]any{"aud": aud})
			holder := alice
			if tt.others {
				holder = i.Token(t, map[string]any{"sub": "bob", "aud": aud})
			}
			begin("/mcp/shop", holder)
			for range tt.waiting {
				resp := send("/mcp/shop", holder, "tools/call", call)
				defer resp.Body.Close()
				if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
					t.Fatalf("it is not asked: %d", resp.StatusCode)
				}
			}
			begin("/mcp", alice)
			for method, params := range map[string]string{"tools/call": call, "prompts/get": `{"name":"visit"}`} {
				resp := send("/mcp", alice, method, params)
				text, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != tt.status || resp.Header.Get("Retry-After") != "30" || !strings.Contains(string(text), "too many requests") {
					t.Errorf("%s: %d %s", method, resp.StatusCode, text)
				}
			}
			if n := counted(t, g.Counters().Refused[tt.word]); n != 2 {
				t.Errorf("%v refusals counted", n)
			}
			if lines := gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `outcome="limited"`); len(lines) != 1 || !strings.HasSuffix(lines[0], " 1") {
				t.Errorf("calls counted: %v", lines)
			}
			hold(t, told(), "refused limited rpc=tools/call subject=alice tool=cancel",
				fmt.Sprintf("refused %s answered=%d rpc=prompts/get subject=alice address=127.0.0.1", tt.word, tt.status))
			leave()
		})
	}
}
