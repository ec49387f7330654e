package call_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestReportedFailures: a failure that a service reports with status 200 counts as an error in metrics and the history, is not cached, is an error of
// resources/read, and does not open the breaker (pains row 155).
func TestReportedFailures(t *testing.T) {
	var n atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Content-Type", "application/json")
		if count := n.Add(1); count <= 30 {
			_, _ = fmt.Fprintf(w, `{"answer":%d,"success":false,"message":"locked"}`, count)
			return
		}
		_, _ = fmt.Fprintf(w, `{"answer":%d,"success":true}`, n.Load())
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.KeeperDocument, `
apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules:
  - {match: {method: GET}, set: {cache: true, resource: true, error: {when: .success == false, message: .message}}}
  - {match: {operation: order}, set: {error: false}}
`, service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[1], "")
	for range 29 {
		if w := c.Send("tools/call", "list", `{}`); !strings.Contains(w.Body.String(), `"isError":true`) || !strings.Contains(w.Body.String(), "shop answered 200 OK, and reports a failure: locked") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if w := c.Read("drawbridge://shop/orders"); !strings.Contains(w.Body.String(), `"error":`) || !strings.Contains(w.Body.String(), "locked") {
		t.Errorf("resources/read: %s", w.Body)
	}
	for range 2 { // the second one is cached
		if w := c.Send("tools/call", "list", `{"page":2}`); gatewaytest.AnswerOf(t, w) != "31" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	n.Store(0)
	if w := c.Send("tools/call", "order", `{"id":7}`); strings.Contains(w.Body.String(), "isError") { // its rule is off
		t.Errorf("%d %s", w.Code, w.Body)
	}
	lines := strings.Join(gatewaytest.MetricLines(g, `{api="shop"`), "\n")
	for _, want := range []string{
		`drawbridge_tool_calls_total{api="shop",outcome="client_error",tool="list"} 30`, `drawbridge_tool_calls_total{api="shop",outcome="ok",tool="list"} 2`,
		`drawbridge_cache_total{api="shop",outcome="hit"} 1`, `drawbridge_cache_total{api="shop",outcome="stored"} 2`,
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s is missing in\n%s", want, lines)
		}
	}
}
