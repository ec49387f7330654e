package call_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"drawbridge/test/gatewaytest"
)

const annotatedDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/search:
    post:
      operationId: searchOrders
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {text: {type: string}, state: {type: string, enum: [open]}}}}}}
      responses: {"200": {description: ok}}
  /orders: {get: {operationId: listOrders, responses: {"200": {description: ok}}}}
  /restart: {get: {operationId: restart, responses: {"200": {description: ok}}}}
  /flush: {get: {operationId: flush, x-mcp-annotations: {read_only: false}, responses: {"200": {description: ok}}}}
  /touch: {get: {operationId: touch, x-mcp-annotations: {read_only: true}, responses: {"200": {description: ok}}}}
`

const annotatedConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true, retries: {max: 1}}]
tools: {presentation: %s, confirm: destructive}
rules:
  - {match: {operation: searchOrders}, set: {annotations: {read_only: true}}}
  - {match: {operation: restart}, set: {annotations: {read_only: false}}}
`

// TestAnnotationsOfRules holds that the hints of a tool, read_tool, consent, the search and retries follow annotations of rules, and that
// those of a document tighten alone, without a say in retries (pains row 174).
func TestAnnotationsOfRules(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]int{}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if sent[r.URL.Path]++; sent[r.URL.Path] == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"done":true}`))
	}))
	t.Cleanup(service.Close)
	listed := gatewaytest.Start(t, annotatedDocument, fmt.Sprintf(annotatedConfig, "all"), service.URL)
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				Annotations json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(gatewaytest.NewClient(t, listed.Handler(), gatewaytest.AllRevisions[0], "").Send("tools/list", "", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	hints := map[string]string{}
	for _, tool := range list.Result.Tools {
		hints[tool.Name] = string(tool.Annotations)
	}
	const reads = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true}`
	const changes = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
	for name, want := range map[string]string{"searchOrders": reads, "listOrders": reads, "touch": reads, "restart": changes, "flush": changes} {
		if hints[name] != want {
			t.Errorf("%s: %s, want %s", name, hints[name], want)
		}
	}
	g := gatewaytest.Start(t, annotatedDocument, fmt.Sprintf(annotatedConfig, "search"), service.URL)
	for _, revision := range gatewaytest.Eras {
		clear(sent)
		c := gatewaytest.NewClient(t, g.Handler(), revision, "")
		for _, tt := range []struct {
			tool, arguments, text string
			path                  string
			requests              int
		}{
			{"read_tool", `{"name":"searchOrders","arguments":{"text":"x","state":""}}`, `{"done":true}`, "/orders/search", 2},
			{"read_tool", `{"name":"restart"}`, "restart is not read-only", "/restart", 0},
			{"read_tool", `{"name":"flush"}`, "flush is not read-only", "/flush", 0},
			{"call_tool", `{"name":"restart"}`, "This call needs the user's consent", "/restart", 0},
			{"search_tools", `{"query":"restart","read_only":true}`, "read_only left out 1 tool that fits better and may change something. No tool fits with read_only.", "", 0},
		} {
			text, _ := gatewaytest.TextOf(t, c.Send("tools/call", tt.tool, tt.arguments))
			if !strings.HasPrefix(text, tt.text) || sent[tt.path] != tt.requests {
				t.Errorf("%s: %s %s: %d requests: %s", revision, tt.tool, tt.arguments, sent[tt.path], text)
			}
		}
	}
	unasked := gatewaytest.Start(t, annotatedDocument, strings.Replace(fmt.Sprintf(annotatedConfig, "all"), ", confirm: destructive", "", 1), service.URL)
	for tool, requests := range map[string]int{"restart": 1, "flush": 2, "touch": 2} {
		clear(sent)
		gatewaytest.NewClient(t, unasked.Handler(), gatewaytest.AllRevisions[0], "").Send("tools/call", tool, `{}`)
		if sent["/"+tool] != requests {
			t.Errorf("%s: sent %d times, want %d", tool, sent["/"+tool], requests)
		}
	}
}
