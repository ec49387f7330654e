package endpoint_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

const twoURLsConfig = `server: {public_urls: ["https://mcp.example.com", "https://Tools.internal:8443/gate"], manifest: true, old_transport: true}
auth: {issuers: [%s], default_scopes: [mcp:tools]%s}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
endpoints: [{name: part, match: {operation: list}}]
rules:
  - {match: {operation: purge}, set: {scopes: ["orders:admin"]}}
`

// askHost lists the tools, or calls one, as a client of the newest revision that asks for a host.
func askHost(h http.Handler, host, path, token, call string) *httptest.ResponseRecorder {
	method, params := "tools/list", ""
	if call != "" {
		method, params = "tools/call", `"name":"`+call+`","arguments":{},`
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	r.Host = host
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method,
		"X-Forwarded-Host": "evil.example", "Forwarded": "host=tools.internal:8443", // must not count
	} {
		r.Header.Set(name, value)
	}
	if call != "" {
		r.Header.Set("Mcp-Name", call)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestPublicURLs holds that the Host of a request alone chooses the URL that challenges, metadata and manifest name, that another
// Host is refused, that a token is good for the URL that it names, and that the path of a URL is served with and without a
// proxy that strips it.
func TestPublicURLs(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	for _, shared := range []bool{false, true} {
		more := ""
		if shared {
			more = ", shared_audience: true"
		}
		h := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), fmt.Sprintf(twoURLsConfig, gatewaytest.Issuers(i), more), service.URL).Handler()
		const inside = "https://Tools.internal:8443/gate/mcp"
		forOutside, forInside := i.Token(t, nil), i.Token(t, map[string]any{"aud": inside})
		for _, tt := range []struct {
			host, path string
			metadata   string // in the challenge; "" if the host is refused
			outside    bool   // a token for https://mcp.example.com is good
			inside     bool
		}{
			{"mcp.example.com", "/mcp", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp", true, false},
			{"MCP.example.com:443", "/mcp/", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp", true, false},
			{"tools.internal:8443", "/mcp", "https://Tools.internal:8443/.well-known/oauth-protected-resource/gate/mcp", false, true},
			{"TOOLS.INTERNAL:8443", "/gate/mcp", "https://Tools.internal:8443/.well-known/oauth-protected-resource/gate/mcp", false, true},
			// Only the listener's own names are let in besides; they have no URL of their own here.
			{"localhost", "/mcp", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp", true, false},
			{"tools.internal", "/mcp", "", false, false},
			{"tools.internal:443", "/mcp", "", false, false},
			{"evil.example", "/mcp", "", false, false},
			{"tools.internal:8443.evil.example", "/mcp", "", false, false},
		} {
			w := askHost(h, tt.host, tt.path, "", "")
			if tt.metadata == "" {
				if w.Code != http.StatusForbidden || w.Header().Get("WWW-Authenticate") != "" {
					t.Errorf("%s%s: %d %v", tt.host, tt.path, w.Code, w.Header())
				}
				continue
			}
			if got := w.Header().Get("WWW-Authenticate"); w.Code != 401 || !strings.HasSuffix(got, `resource_metadata="`+tt.metadata+`"`) {
				t.Errorf("%s%s: %d, challenge %s", tt.host, tt.path, w.Code, got)
			}
			for token, good := range map[string]bool{forOutside: tt.outside || shared, forInside: tt.inside || shared} {
				if w := askHost(h, tt.host, tt.path, token, "list"); gatewaytest.Succeeded(w) != good || !good && w.Code != 401 {
					t.Errorf("shared %t, %s%s: %d %s", shared, tt.host, tt.path, w.Code, w.Body)
				}
				if w := askHost(h, tt.host, tt.path, token, "purge"); good && (w.Code != 403 || !strings.HasSuffix(w.Header().Get("WWW-Authenticate"), `resource_metadata="`+tt.metadata+`"`)) {
					t.Errorf("shared %t, %s%s: without the scope %d %v", shared, tt.host, tt.path, w.Code, w.Header())
				}
			}
		}
		if w := askHost(h, "tools.internal:8443", "/gate/mcp/part", i.Token(t, map[string]any{"aud": inside + "/part"}), "list"); !gatewaytest.Succeeded(w) {
			t.Errorf("endpoint below the path: %d %s", w.Code, w.Body)
		}
		if w := askHost(h, "mcp.example.com", "/gate/mcp", forOutside, ""); w.Code != http.StatusNotFound {
			t.Errorf("the path of another URL: %d", w.Code)
		}
		// The last member of a path: what documents say of themselves.
		for _, tt := range []struct{ host, path, member, want string }{
			{"mcp.example.com", "/.well-known/oauth-protected-resource/mcp", "resource", gatewaytest.ResourceURL},
			{"mcp.example.com", "/.well-known/oauth-protected-resource", "resource", gatewaytest.ResourceURL},
			{"tools.internal:8443", "/.well-known/oauth-protected-resource/gate/mcp", "resource", inside},
			{"tools.internal:8443", "/.well-known/oauth-protected-resource/mcp/part", "resource", inside + "/part"},
			{"tools.internal:8443", "/gate/.well-known/oauth-protected-resource/mcp", "resource", inside},
			{"tools.internal:8443", "/.well-known/mcp/manifest", "transports", inside},
			{"tools.internal:8443", "/gate/manifest", "transports", inside},
			{"mcp.example.com", "/manifest", "transports", gatewaytest.ResourceURL},
		} {
			r := httptest.NewRequest(http.MethodGet, tt.path, nil)
			r.Host = tt.host
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var doc map[string]json.RawMessage
			if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || !strings.Contains(string(doc[tt.member]), `"`+tt.want+`"`) {
				t.Errorf("%s%s: %d %s", tt.host, tt.path, w.Code, w.Body)
			}
		}
	}
}

// TestLoopbackNames: without a public URL, clients on this machine reach the gateway by two names, and log in with either.
func TestLoopbackNames(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	h := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(`server: {listen: "127.0.0.1:8080"}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
`, gatewaytest.Issuers(i)), service.URL).Handler()
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080"} {
		want := `resource_metadata="http://` + host + `/.well-known/oauth-protected-resource/mcp"`
		if w := askHost(h, host, "/mcp", "", ""); w.Code != 401 || !strings.Contains(w.Header().Get("WWW-Authenticate"), want) {
			t.Errorf("%s: %d %v", host, w.Code, w.Header())
		}
		for _, aud := range []string{"http://127.0.0.1:8080/mcp", "http://localhost:8080/mcp"} {
			if w := askHost(h, host, "/mcp", i.Token(t, map[string]any{"aud": aud}), "list"); !gatewaytest.Succeeded(w) {
				t.Errorf("%s with a token for %s: %d %s", host, aud, w.Code, w.Body)
			}
		}
	}
}
