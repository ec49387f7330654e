package call_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestChosenTypeIsKeptByItself: a cached response in one media type is not the answer to a call that chose another (pains row 160).
func TestChosenTypeIsKeptByItself(t *testing.T) {
	const doc = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /items: {get: {operationId: list, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}, text/csv: {}}}}}}
`
	var asked atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Accept") == "text/csv" {
			w.Header().Set("Content-Type", "text/csv")
			_, _ = io.WriteString(w, "a,b")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a":"b"}`)
	}))
	defer service.Close()
	g := gatewaytest.Start(t, doc, `
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules: [{match: {method: GET}, set: {cache: {ttl: 1m, shared: true}}}]
`, service.URL)
	for range 2 {
		for arguments, want := range map[string]string{`{}`: `{\"a\":\"b\"}`, `{"accept":"text/csv"}`: `"text":"a,b"`} {
			if w := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Send("tools/call", "list", arguments); !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: %s", arguments, w.Body)
			}
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
