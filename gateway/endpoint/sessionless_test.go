package endpoint_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

const sessionlessCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`

// sendAlone posts a message as somebody with curl does: there is no session, and nothing of a protocol but what more says.
func sendAlone(h http.Handler, body string, more ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(more); i += 2 {
		if r.Header.Set(more[i], more[i+1]); more[i] == "Host" {
			r.Host = more[i+1]
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestSessionless: a request without a session is answered if it asks for nothing that a session is for, and only where that is allowed (pains row 132).
func TestSessionless(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	const apis = "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), apis+"rules: [{match: {operation: purge}, set: {confirm: true}}]\n", service.URL)
	with := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
	}
	for _, tt := range []struct {
		name, body string
		more       []string
		status     int
		says       string
		reached    int
	}{
		{"ping", with("ping", ""), nil, 200, `"result":{}`, 0},
		{"list", with("tools/list", ""), nil, 200, `"name":"purge"`, 0},
		{"call", sessionlessCall, nil, 200, `"text":"{\"done\":true}"`, 1},
		{"no header stands for 2025-03-26, which has no structured content", sessionlessCall, nil, 200, `"content":[{"type":"text","text":"{\"done\":true}"}]}}`, 1},
		{"the revision of the header", sessionlessCall, []string{"MCP-Protocol-Version", "2025-06-18"}, 200, `"structuredContent":{"done":true}`, 1},
		{"a progress token is no version", with("tools/call", `"name":"list","arguments":{},"_meta":{"progressToken":1}`), nil, 200, `"text":"{\"done\":true}"`, 1},
		{"an empty session", sessionlessCall, []string{"Mcp-Session-Id", ""}, 200, `"text":"{\"done\":true}"`, 1},
		{"2026-07-28 by the header", sessionlessCall, []string{"MCP-Protocol-Version", "2026-07-28"}, 400, `params._meta needs`, 0},
		{"a revision that is none", sessionlessCall, []string{"MCP-Protocol-Version", "2025-01-01"}, 400, `unsupported protocol version`, 0},
		{"a session that is none", sessionlessCall, []string{"Mcp-Session-Id", "x"}, 404, `session not found`, 0},
		{"another method", with("resources/list", ""), nil, 400, `header Mcp-Session-Id is missing`, 0},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 400, `header Mcp-Session-Id is missing`, 0},
		{"a batch", "[" + sessionlessCall + "]", nil, 400, `header Mcp-Session-Id is missing`, 0},
		{"another host", sessionlessCall, []string{"Host", "evil.example"}, 403, "", 0},
		{"another origin", sessionlessCall, []string{"Origin", "https://evil.example"}, 403, "", 0},
		{"what a page may send without asking", sessionlessCall, []string{"Content-Type", "text/plain"}, 415, "", 0},
		{"a call that needs consent", with("tools/call", `"name":"purge","arguments":{}`), nil, 200, `this client can't ask for it`, 0},
	} {
		w := sendAlone(g.Handler(), tt.body, tt.more...)
		if reached := len(service.Taken()); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) || reached != tt.reached || w.Header().Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %d, %d requests\n%s", tt.name, w.Code, reached, w.Body)
		}
	}
}

// TestSessionlessDefault: requests without a session are served by default where nobody but the machine's own user is served (pains row 132).
func TestSessionlessDefault(t *testing.T) {
	service, i := gatewaytest.NewRecordingService(t), gatewaytest.NewIDP(t)
	const apis = "\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"
	for _, tt := range []struct {
		cfg     string
		allowed bool
	}{
		{apis, true},
		{"server: {sessionless: refuse}" + apis, false},
		{"auth: {anonymous: true}" + apis, false},
		{"server: {public_url: 'https://mcp.example.com', allowed_hosts: ['127.0.0.1:8080']}\nauth: {anonymous: true}" + apis, false},
		{"server: {trusted_proxies: [10.0.0.0/8]}\nauth: {anonymous: true}" + apis, false},
		{"server: {sessionless: allow, trusted_proxies: [10.0.0.0/8]}\nauth: {anonymous: true}" + apis, true},
		{fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), false},
		{strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "server: {", "server: {sessionless: allow, ", 1), true},
	} {
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), tt.cfg, service.URL)
		w := sendAlone(g.Handler(), sessionlessCall, "Authorization", "Bearer "+i.Token(t, nil))
		if reached := len(service.Taken()); (w.Code == 200 && reached == 1) != tt.allowed || !tt.allowed && w.Code != 400 {
			t.Errorf("%s: %d, %d requests: %s", tt.cfg, w.Code, reached, w.Body)
		}
	}
}
