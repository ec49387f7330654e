package endpoint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drawbridge/test/update"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/endpoint"
	"drawbridge/test/gatewaytest"
)

// manifestDocument has an operation that takes nothing, one with an example in the document, and one without.
const manifestDocument = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders:
    get: {operationId: list, summary: List the <orders>, responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {type: string}}}}}}}
    post:
      operationId: order
      requestBody: {required: true, content: {application/json: {schema: {type: object, required: [sku], properties: {sku: {type: string}, n: {type: integer}}}, example: {sku: ROPE-12, n: 9007199254740993}}}}
      responses: {'201': {description: made}}
  /orders/{id}:
    delete:
      operationId: purge
      parameters: [{name: id, in: path, required: true, schema: {type: integer, minimum: 5}}]
      responses: {'204': {description: gone}}
`

// TestManifest compares the whole manifest of a gateway without tokens with testdata/manifest.json.
func TestManifest(t *testing.T) {
	g := gatewaytest.Start(t, manifestDocument, "server: {manifest: true}\napis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+
		"prompts: [{name: look, title: Look, arguments: [{name: id, required: true}], messages: [{text: \"{{id}}\"}]}]\n", "http://127.0.0.1:1")
	w := gatewaytest.Do(g.Handler(), http.MethodGet, "/.well-known/mcp/manifest", nil)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "public, no-cache" ||
		!strings.Contains(strings.Join(w.Header()["Vary"], ","), "Authorization") {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	var got bytes.Buffer
	if err := json.Indent(&got, w.Body.Bytes(), "", "  "); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	text := regexp.MustCompile(`"last_updated": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`).ReplaceAllString(got.String(), `"last_updated": "{{time}}"`)
	golden := filepath.Join("testdata", "manifest.json")
	if *update.Expected {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got)\n%s", golden, diff)
	}

	etag := w.Header().Get("Etag")
	for value, status := range map[string]int{etag: 304, "W/" + etag: 304, `"other", ` + etag: 304, "*": 304, `"other"`: 200, "": 200} {
		if again := gatewaytest.Do(g.Handler(), http.MethodGet, "/manifest", http.Header{"If-None-Match": {value}}); again.Code != status ||
			again.Header().Get("Etag") != etag || (again.Body.Len() == 0) != (status == 304) {
			t.Errorf("If-None-Match %s = %d %v, %d bytes; want %d", value, again.Code, again.Header(), again.Body.Len(), status)
		}
	}
	if head := gatewaytest.Do(g.Handler(), http.MethodHead, "/manifest", nil); head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != fmt.Sprint(w.Body.Len()) {
		t.Errorf("HEAD = %d %v", head.Code, head.Header())
	}
	for method, status := range map[string]int{http.MethodPost: 405, http.MethodDelete: 405} {
		if w := gatewaytest.Do(g.Handler(), method, "/manifest", nil); w.Code != status || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s = %d %v", method, w.Code, w.Header())
		}
	}
	if w := gatewaytest.Do(g.Handler(), http.MethodGet, "/manifest", http.Header{"Host": {"evil.example"}}); w.Code != http.StatusForbidden {
		t.Errorf("another host = %d", w.Code)
	}
}

// TestManifestIsOff holds that there is no manifest unless the operator wants one.
func TestManifestIsOff(t *testing.T) {
	g := gatewaytest.Start(t, manifestDocument, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n", "http://127.0.0.1:1")
	for _, path := range []string{"/.well-known/mcp/manifest", "/manifest"} {
		if w := gatewaytest.Do(g.Handler(), http.MethodGet, path, nil); w.Code != http.StatusNotFound {
			t.Errorf("%s = %d", path, w.Code)
		}
	}
}

// TestManifestScopes holds that a manifest tells no more than its reader may call, though tools/list would: nothing without
// a token but how to get one.
func TestManifestScopes(t *testing.T) {
	i := gatewaytest.NewIDP(t)
	g := gatewaytest.Start(t, manifestDocument, strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "server: {", "server: {manifest: true, ", 1)+
		"prompts: [{name: look, messages: [{tool: list}]}, {name: empty-it, messages: [{tool: purge, arguments: {id: 5}, unsafe: true}]}]\n", "http://127.0.0.1:1")
	etags := map[string]string{}
	for _, tt := range []struct {
		name, token, cache string
		tools              []string
	}{
		{name: "without a token", cache: "public, no-cache"},
		{name: "of a reader", token: i.Token(t, nil), cache: "private, no-cache", tools: []string{"list", "order"}},
		{name: "of another reader", token: i.Token(t, map[string]any{"sub": "bob"}), cache: "private, no-cache", tools: []string{"list", "order"}},
		{name: "of an admin", token: i.Token(t, map[string]any{"scope": "orders:all"}), cache: "private, no-cache", tools: []string{"list", "order", "purge"}},
		{name: "of nobody", token: i.Token(t, map[string]any{"scope": "nothing"}), cache: "private, no-cache"},
	} {
		header := http.Header{"Host": {"mcp.example.com"}}
		if tt.token != "" {
			header.Set("Authorization", "Bearer "+tt.token)
		}
		w := gatewaytest.Do(g.Handler(), http.MethodGet, "/manifest", header)
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != tt.cache || !strings.Contains(strings.Join(w.Header()["Vary"], ","), "Authorization") {
			t.Errorf("%s: %d %v", tt.name, w.Code, w.Header())
			continue
		}
		if diff := cmp.Diff(tt.tools, gatewaytest.Listed(t, w.Body.Bytes())); diff != "" {
			t.Errorf("%s: tools (-want +got)\n%s", tt.name, diff)
		}
		if strings.Contains(w.Body.String(), "purge") && len(tt.tools) < 3 {
			t.Errorf("%s: a tool that may not be seen is spoken of: %s", tt.name, w.Body)
		}
		if body := w.Body.String(); strings.Contains(body, `"name":"look"`) != (len(tt.tools) > 0) || strings.Contains(body, "empty-it") != (len(tt.tools) > 2) {
			t.Errorf("%s: prompts: %s", tt.name, body)
		}
		var m struct {
			Authorization endpoint.ManifestAuthorization
		}
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		if !m.Authorization.Required || m.Authorization.MetadataURL != "https://mcp.example.com/.well-known/oauth-protected-resource/mcp" ||
			!strings.Contains(string(m.Authorization.ProtectedResource), i.URL) {
			t.Errorf("%s: authorization %+v", tt.name, m.Authorization)
		}
		etags[tt.name] = w.Header().Get("Etag")
	}
	if etags["of a reader"] != etags["of another reader"] || etags["of a reader"] == etags["of an admin"] || etags["without a token"] == etags["of a reader"] {
		t.Errorf("etags %v", etags)
	}
	w := gatewaytest.Do(g.Handler(), http.MethodGet, "/manifest", http.Header{"Host": {"mcp.example.com"}, "Authorization": {"Bearer x"}})
	if w.Code != http.StatusUnauthorized || w.Header().Get("Www-Authenticate") == "" {
		t.Errorf("a bad token = %d %v", w.Code, w.Header())
	}
}
