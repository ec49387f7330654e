package gateway_test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"drawbridge/test/gatewaytest"
)

// TestPublicRoutes is Z9: of all that the public listener serves, nothing but the metadata, the keys, and the page for browsers
// does without a token.
func TestPublicRoutes(t *testing.T) {
	_, keyFile := gatewaytest.NewKey(t)
	i := gatewaytest.NewIDP(t)
	r := gatewaytest.Run(t, map[string]string{"key.pem": keyFile, "a.yaml": gatewaytest.Document("A", "one"), "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s/tools}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
identity: {key_files: [key.pem]}
apis: [{name: a, spec: a.yaml, base_url: "http://127.0.0.1:1"}]
`, gatewaytest.PublicURL, gatewaytest.Issuers(i))})
	r.Served()
	open := map[string]int{"/.well-known/jwks.json": 200, "/.well-known/oauth-protected-resource": 200}
	browser := map[string]int{"/": 200}
	maps.Copy(browser, open)
	routes, ok := (*r.Public()).(chi.Routes)
	if !ok {
		t.Fatalf("the public surface is a %T", (*r.Public()))
	}
	for accept, want := range map[string]map[string]int{"*/*": open, "text/html,application/xhtml+xml,*/*;q=0.8": browser} {
		seen := map[string]int{}
		err := chi.Walk(routes, func(_, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			if w := gatewaytest.Do(r.Handler(), http.MethodGet, path, http.Header{"Accept": {accept}}); w.Code != http.StatusUnauthorized && w.Code != http.StatusNotFound { // of what has parameters there is none here
				seen[path] = w.Code
			}
			return nil
		})
		if diff := cmp.Diff(want, seen); err != nil || diff != "" {
			t.Errorf("%v; what is served without a token for Accept: %s (-want +got)\n%s", err, accept, diff)
		}
	}
	for method, want := range map[string]int{http.MethodHead: 200, http.MethodPost: 405, http.MethodDelete: 405, http.MethodOptions: 405} {
		w := gatewaytest.Do(r.Handler(), method, "/.well-known/jwks.json", nil)
		if w.Code != want || w.Header().Get("X-Content-Type-Options") != "nosniff" || want == 200 && w.Header().Get("Cache-Control") != "public, max-age=60" {
			t.Errorf("%s of the keys: %d %v", method, w.Code, w.Header())
		}
	}
}
