package endpoint_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestSecured is H12: what every answer on the public listener says, a good one and each kind of refusal, and what none says.
func TestSecured(t *testing.T) {
	g, i, _ := gatewaytest.Protected(t)
	good := "Bearer " + i.Token(t, nil)
	const call = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	for _, tt := range []struct {
		name, method, path, host, origin, token, body string
		status                                        int
		cached                                        string // Cache-Control, where it is not no-store
	}{
		{name: "an answer", method: "POST", path: "/mcp", token: good, body: call, status: 200},
		{name: "no JSON", method: "POST", path: "/mcp", token: good, body: "{", status: 400},
		{name: "too large", method: "POST", path: "/mcp", token: good, body: `{"a":"` + strings.Repeat("a", 2<<20) + `"}`, status: 413},
		{name: "no token", method: "POST", path: "/mcp", body: call, status: 401},
		{name: "a bad token", method: "POST", path: "/mcp", token: "Bearer x.y.z", body: call, status: 401},
		{name: "a foreign host", method: "POST", path: "/mcp", token: good, host: "evil.example", body: call, status: 403},
		{name: "a foreign origin", method: "POST", path: "/mcp", token: good, origin: "https://evil.example", body: call, status: 403},
		{name: "another method", method: "PUT", path: "/mcp", token: good, status: 405},
		{name: "another path", method: "GET", path: "/none", token: good, status: 404},
		{name: "a preflight", method: "OPTIONS", path: "/mcp", origin: "https://app.example.com", status: 204},
		{name: "metadata", method: "GET", path: "/.well-known/oauth-protected-resource/mcp", status: 200, cached: "*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "https://mcp.example.com"+tt.path, strings.NewReader(tt.body))
			for name, value := range map[string]string{"Authorization": tt.token, "Origin": tt.origin, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			if tt.method == http.MethodOptions {
				r.Header.Set("Access-Control-Request-Method", "POST")
			}
			if tt.host != "" {
				r.Host = tt.host
			}
			w := httptest.NewRecorder()
			g.Handler().ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'", "Cache-Control": "no-store", "Server": "", "X-Powered-By": ""} {
				if got := strings.Join(w.Header().Values(name), "|"); got != want && (name != "Cache-Control" || tt.cached != "*") {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		})
	}
}
