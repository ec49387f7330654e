package endpoint_test

import (
	"fmt"
	"net/http"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestPublicToPages is Z1 and H3: any page may read the metadata and the keys, and its preflight needs no token. /mcp is for
// the pages that are listed.
func TestPublicToPages(t *testing.T) {
	_, keyFile := gatewaytest.NewKey(t)
	i := gatewaytest.NewIDP(t)
	r := gatewaytest.Run(t, map[string]string{"key.pem": keyFile, "a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis: [{name: a, spec: a.yaml, base_url: "http://127.0.0.1:1"}]
`, gatewaytest.PublicURL, gatewaytest.Issuers(i))})
	r.Served()
	page := http.Header{"Origin": {"https://anywhere.example"}}
	preflight := http.Header{"Origin": {"https://anywhere.example"}, "Access-Control-Request-Method": {"GET"}}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/jwks.json"} {
		if w := gatewaytest.Do(r.Handler(), http.MethodOptions, path, preflight); w.Code != 204 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Methods") != "GET, HEAD" {
			t.Errorf("preflight of %s: %d %v", path, w.Code, w.Header())
		}
		if w := gatewaytest.Do(r.Handler(), http.MethodGet, path, page); w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
	if w := gatewaytest.Do(r.Handler(), http.MethodOptions, "/mcp", preflight); w.Code != 403 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight of /mcp from elsewhere: %d %v", w.Code, w.Header())
	}
}
