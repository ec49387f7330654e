package endpoint_test

import (
	"net/http"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestLanding is Z9 for the page at /: a browser's GET gets it, under the gateway's hosts alone, and it depends on nothing but
// the gateway's URL. Every other request for / gets 404 with that URL, as do the paths of the transport HTTP+SSE (pains row 199).
func TestLanding(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	const cfg = "auth: {anonymous: true}\nserver: {public_url: 'https://mcp.example.com/tools'}\napis: [{name: warehouse, spec: $SPEC, base_url: $BASE}]\nendpoints: [{name: storeroom, match: [{api: warehouse}]}]\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Stock of the warehouse", "listPallets"), cfg, "http://127.0.0.1:1")
	w := gatewaytest.Do(g.Handler(), http.MethodGet, "/", http.Header{"Accept": {browser}, "Host": {"mcp.example.com"}})
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "https://mcp.example.com/tools/mcp") {
		t.Fatalf("a browser gets %d %s", w.Code, w.Body)
	}
	for _, name := range []string{"warehouse", "Stock", "listPallets", "storeroom", "127.0.0.1"} {
		if strings.Contains(w.Body.String(), name) {
			t.Errorf("the page names %q", name)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "style-src 'sha256-", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q is without %s", policy, want)
		}
	}
	if strings.Contains(policy, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("headers %v", w.Header())
	}
	for _, other := range []struct {
		method, path, accept, host string
		status                     int
	}{
		{http.MethodGet, "/", "*/*", "mcp.example.com", http.StatusNotFound},
		{http.MethodGet, "/", "application/json, text/event-stream", "mcp.example.com", http.StatusNotFound},
		{http.MethodGet, "/", "text/html;q=0", "mcp.example.com", http.StatusNotFound},
		{http.MethodHead, "/", browser, "mcp.example.com", http.StatusNotFound},
		{http.MethodPost, "/", browser, "mcp.example.com", http.StatusNotFound},
		{http.MethodOptions, "/", browser, "mcp.example.com", http.StatusNotFound},
		{http.MethodGet, "/index.html", browser, "mcp.example.com", http.StatusNotFound},
		{http.MethodGet, "/", browser, "attacker.example", http.StatusForbidden},
	} {
		w := gatewaytest.Do(g.Handler(), other.method, other.path, http.Header{"Accept": {other.accept}, "Host": {other.host}})
		if w.Code != other.status || strings.Contains(w.Body.String(), "<h1>") {
			t.Errorf("%s %s of %s, Accept %s: %d %s; want %d", other.method, other.path, other.host, other.accept, w.Code, w.Body, other.status)
		}
	}
}

// TestSignpost: curl and clients of the transport HTTP+SSE learn the URL of the endpoint, under endpoints and below the path of the public
// URL as well, and no other host does (pains row 199).
func TestSignpost(t *testing.T) {
	const cfg = "auth: {anonymous: true}\nserver: {public_url: 'https://mcp.example.com/tools'}\napis: [{name: warehouse, spec: $SPEC, base_url: $BASE}]\nendpoints: [{name: storeroom, match: [{api: warehouse}]}]\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Stock of the warehouse", "listPallets"), cfg, "http://127.0.0.1:1")
	const main = "the MCP endpoint is https://mcp.example.com/tools/mcp (Streamable HTTP)"
	for _, tt := range []struct{ method, path, host, want string }{
		{http.MethodGet, "/", "mcp.example.com", main},
		{http.MethodPost, "/", "mcp.example.com", main},
		{http.MethodGet, "/tools/", "mcp.example.com", main},
		{http.MethodGet, "/sse", "mcp.example.com", main},
		{http.MethodPost, "/sse", "mcp.example.com", main},
		{http.MethodGet, "/sse/", "mcp.example.com", main},
		{http.MethodGet, "/tools/sse", "mcp.example.com", main},
		{http.MethodGet, "/sse/storeroom", "mcp.example.com", "the MCP endpoint is https://mcp.example.com/tools/mcp/storeroom (Streamable HTTP)"},
		{http.MethodGet, "/mcp/storeroom/sse", "mcp.example.com", "the MCP endpoint is https://mcp.example.com/tools/mcp/storeroom (Streamable HTTP)"},
		{http.MethodGet, "/tools/mcp/other/sse", "mcp.example.com", "the MCP endpoint is https://mcp.example.com/tools/mcp/other (Streamable HTTP)"},
		{http.MethodGet, "/mcp/a%20b/sse", "mcp.example.com", "404 page not found"},
		{http.MethodGet, "/index.html", "mcp.example.com", "404 page not found"},
	} {
		w := gatewaytest.Do(g.Handler(), tt.method, tt.path, http.Header{"Accept": {"*/*"}, "Host": {tt.host}})
		if body := w.Body.String(); w.Code != http.StatusNotFound || !strings.Contains(body, tt.want) || tt.want != main && strings.Contains(body, main) {
			t.Errorf("%s %s: %d %s; want 404 and %q", tt.method, tt.path, w.Code, body, tt.want)
		}
	}
	if w := gatewaytest.Do(g.Handler(), http.MethodGet, "/sse", http.Header{"Host": {"attacker.example"}}); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "/tools") {
		t.Errorf("another host: %d %s", w.Code, w.Body)
	}
}
