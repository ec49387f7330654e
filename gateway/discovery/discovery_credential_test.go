package discovery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/gatewaytest"
)

// What the configuration sends to a service goes to its instances alone: a registration, or the service, that names a document at
// another host gets nothing for it.
func TestCredentialsOfServiceElsewhere(t *testing.T) {
	var mu sync.Mutex
	var fetched int
	var leaked []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fetched++
		if text := fmt.Sprint(r.Header, r.URL); strings.Contains(text, "canary") {
			leaked = append(leaked, r.URL.Path+" "+text)
		}
		fmt.Fprint(w, gatewaytest.Document("orders", "list"))
	}))
	defer elsewhere.Close()
	linking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Set("Link", "<"+elsewhere.URL+"/linked.json>; rel=service-desc"); r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer linking.Close()
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/redirected.json", http.StatusFound)
	}))
	defer redirecting.Close()
	group := func(service string, at *httptest.Server, labels string) string {
		return fmt.Sprintf(`{"targets": [%q], "labels": {"service": %q%s}}`, at.Listener.Addr(), service, labels)
	}
	r := gatewaytest.Run(t, map[string]string{
		"drawbridge.yaml": `discovery:
  - name: shop
    file: {paths: [targets.json]}
    allow_addresses: [127.0.0.0/8]
    credentials:
      - match: {name: [named, linking, redirecting]}
        credential: {type: bearer, token: canary-of-calls}
        spec_credential: {type: api_key, in: header, name: X-Key, value: canary-of-documents}
        request: {headers: {X-More: {value: canary-of-request}}, query: {more: {value: canary-of-query}}}
`,
		"targets.json": "[" + strings.Join([]string{
			group("named", linking, fmt.Sprintf(`, "openapi": "%s/named.json"`, elsewhere.URL)),
			group("linking", linking, ""), group("redirecting", redirecting, `, "openapi": "/redirected.json"`),
		}, ",") + "]",
	})
	r.Eventually("the documents elsewhere are read", func() bool {
		return strings.Contains(strings.Join(r.Tools(), " "), "shop-linking_list shop-named_list")
	})
	mu.Lock()
	defer mu.Unlock()
	if fetched < 2 || len(leaked) > 0 {
		t.Errorf("%d documents were fetched, with %q", fetched, leaked)
	}
}
