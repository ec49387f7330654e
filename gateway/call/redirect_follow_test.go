package call_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
)

// TestFollowedRedirects: the audit line of a call counts the redirects that were followed, and a call with a condition follows none, because
// what the condition has seen is the call as it was made (pains row 124).
func TestFollowedRedirects(t *testing.T) {
	a := gatewaytest.Accounted(t, audit.Options{NoDigest: true}, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/") {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	})
	for _, tt := range []struct {
		tool, arguments     string
		outcome             string
		requests, redirects any
	}{
		{"stock", `{}`, "ok", 2.0, 1.0},
		{"get", `{"id":7}`, "redirect", 1.0, nil},
	} {
		gatewaytest.NewClient(t, a.Handler(), "2026-07-28", a.I.Token(t, nil)).Send("tools/call", tt.tool, tt.arguments)
		line := a.Lines(1)[0]
		if line["outcome"] != tt.outcome || line["requests"] != tt.requests || line["redirects"] != tt.redirects {
			t.Errorf("%s: %v", tt.tool, line)
		}
	}
}

// TestFollowedIsNotKept: an answer from where a redirect led is not kept as that of the place that was asked, and a slash at the end of a
// list is not taken for an item without a name (pains row 124).
func TestFollowedIsNotKept(t *testing.T) {
	const doc = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /items: {get: {operationId: list, responses: {'200': {description: ok}}}}
  /items/{id}: {get: {operationId: get, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {'200': {description: ok}}}}
`
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1); r.URL.Path == "/items" {
			http.Redirect(w, r, "/items/", http.StatusPermanentRedirect)
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprint(w, "all")
	}))
	defer service.Close()
	g := gatewaytest.Start(t, doc, `
apis: [{name: shop, spec: $SPEC, base_url: $BASE, follow_redirects: same_origin}]
rules: [{match: {method: GET}, set: {cache: {ttl: 1m, shared: true}}}]
`, service.URL)
	for n := range int32(2) {
		w := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Send("tools/call", "list", "{}")
		if !strings.Contains(w.Body.String(), `"text":"all"`) || asked.Load() != 2*(n+1) {
			t.Errorf("call %d, %d requests: %s", n+1, asked.Load(), w.Body)
		}
	}
}
