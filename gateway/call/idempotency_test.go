package call_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

const keyedDocument = `
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /orders:
    post: {operationId: addOrder, responses: {"201": {description: x}}}
    get: {operationId: getOrders, responses: {"200": {description: x}}}
  /payments:
    post:
      operationId: pay
      parameters:
        - {name: idempotency-key, in: header, required: true, schema: {type: string, format: uuid, maxLength: 36}}
        - {name: amount, in: query, schema: {type: integer}}
      responses: {"201": {description: x}}
  /refunds:
    post:
      operationId: refund
      parameters: [{name: Idempotency-Key, in: header, required: true, schema: {type: integer}}]
      responses: {"201": {description: x}}
`

// TestIdempotencyKey is R10: all requests of one call carry the same key, no two calls do, no caller chooses it, and with it
// a POST is sent again.
func TestIdempotencyKey(t *testing.T) {
	for _, c := range []struct {
		rule, header string
	}{
		{"idempotency_key: true", "Idempotency-Key"},
		{"idempotency_key: x-request-token", "X-Request-Token"},
	} {
		t.Run(c.header, func(t *testing.T) {
			var mu sync.Mutex
			var seen []string
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, strings.Join(r.Header.Values(c.header), "|"))
				if len(seen)%3 == 0 {
					w.WriteHeader(http.StatusCreated)
					return
				}
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusServiceUnavailable)
			}))
			defer service.Close()
			g := gatewaytest.Start(t, keyedDocument, "apis: [{spec: $SPEC, base_url: $BASE, name: shop}]\nrules: [{match: {operation: \"*\"}, set: {"+c.rule+"}}]\n", service.URL)
			keys := map[string]bool{}
			tools := map[string]string{"addOrder": "{}", "pay": `{"amount":7}`}
			if c.header != "Idempotency-Key" {
				delete(tools, "pay")
			}
			for name, arguments := range tools {
				seen = nil
				if _, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":%s`, name, arguments)); strings.Contains(string(answer), "isError") {
					t.Fatalf("%s: %s", name, answer)
				}
				if len(seen) != 3 || seen[0] != seen[1] || seen[0] != seen[2] || keys[seen[0]] ||
					!regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(seen[0]) {
					t.Errorf("%s: keys %q", name, seen)
				}
				keys[seen[0]] = true
			}
			if seen = nil; c.header == "Idempotency-Key" {
				_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/call", "pay", `"name":"pay","arguments":{"idempotency-key":"11111111-2222-4333-8444-555555555555"}`)
				if !strings.Contains(string(answer), "/idempotency-key: is not for callers to give; leave it out") || len(seen) > 0 {
					t.Errorf("a caller's own key: %s, %q", answer, seen)
				}
			}
			// What is idempotent by itself carries none.
			seen = nil
			gatewaytest.Ask(t, g.Handler(), "", "tools/call", "getOrders", `"name":"getOrders","arguments":{}`)
			if len(seen) != 3 || seen[0] != "" {
				t.Errorf("GET: keys %q", seen)
			}
			// No model sees the argument whose place it has taken; where that can't be, the operator is told.
			_, list := gatewaytest.Ask(t, g.Handler(), "", "tools/list", "", "")
			if c.header == "Idempotency-Key" && bytes.Contains(list, []byte(`"idempotency-key"`)) {
				t.Errorf("the argument is still there: %s", list)
			}
			report, _ := g.Report("shop")
			var problems []string
			for _, p := range report.Problems {
				problems = append(problems, p.Code+" "+p.Message)
			}
			var want []string
			if c.header == "Idempotency-Key" {
				want = []string{`idempotency-key rules[0].set.idempotency_key: the argument "Idempotency-Key", which is sent in this header, takes no UUID: `}
			}
			for i := range problems {
				if i < len(want) && strings.HasPrefix(problems[i], want[i]) {
					problems[i] = want[i]
				}
			}
			if diff := cmp.Diff(want, problems); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestBreakerIsShown: operators see it on /readyz and /apis, and the metrics tell it.
func TestBreakerIsShown(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "getOrders"), "apis: [{spec: $SPEC, name: shop, base_url: $BASE, breaker: {calls: 3, pause: 10m, errors: all}}, {spec: $SPEC, name: other, base_url: $BASE, breaker: off}]\n", service.URL)
	for _, name := range []string{"shop_getOrders", "other_getOrders"} {
		for range 4 {
			gatewaytest.Ask(t, g.Handler(), "", "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{}`, name))
		}
	}
	show := func(path string) string {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		g.Admin().ServeHTTP(w, r)
		return w.Body.String()
	}
	if got := show("/readyz?verbose"); !strings.Contains(got, "api shop: ready: 1 tools, 0 operations skipped, 0 problems, breaker open\n") ||
		!strings.Contains(got, "api other: ready: 1 tools, 0 operations skipped, 0 problems\n") {
		t.Error(got)
	}
	if got := g.Status().APIs; got[0].Breaker != "open" || got[0].State != admin.Ready || got[1].Breaker != "" {
		t.Errorf("%+v", got)
	}
	metrics := show("/metrics")
	for _, line := range []string{
		`drawbridge_breaker_state{api="shop",state="open"} 1`, `drawbridge_breaker_state{api="shop",state="closed"} 0`,
		`drawbridge_breaker_state{api="other",state="closed"} 1`, `drawbridge_api_calls_in_flight{api="shop"} 0`,
		`drawbridge_api_calls_queued{api="shop"} 0`, `drawbridge_retries_total{api="shop",reason="503"} 0`,
		`drawbridge_tool_calls_total{api="shop",outcome="open",tool="shop_getOrders"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}
