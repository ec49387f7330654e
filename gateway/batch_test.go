package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"drawbridge/gateway"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
)

// TestBatchAccounts is H6: each call of a batch has a line of its own, with what became of it.
func TestBatchAccounts(t *testing.T) {
	a := gatewaytest.Accounted(t, audit.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "stock") {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	c := gatewaytest.NewClient(t, a.Handler(), "2025-03-26", a.I.Token(t, nil))
	c.Send("ping", "", "")
	header := c.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("Mcp-Session-Id", c.Session)
	var calls []string
	for n, call := range []string{`"get","arguments":{"id":1}`, `"stock","arguments":{}`, `"get","arguments":{"id":13}`, `"nobody","arguments":{}`, `"get","arguments":{"id":2}`} {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`, n, call))
	}
	if w := gatewaytest.Post(a.Handler(), header, "["+strings.Join(calls, ",")+"]"); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	var got []string
	for _, line := range a.Lines(len(calls)) {
		got = append(got, fmt.Sprint(line["tool"], " ", line["decision"], " ", line["outcome"], " ", line["status"]))
	}
	slices.Sort(got)
	want := []string{"get allowed ok 204", "get allowed ok 204", "get refused not_permitted <nil>", "nobody refused unknown_tool <nil>", "stock allowed client_error 418"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestBatchConcurrency is H6: each call of a batch is one of limits.max_calls.
func TestBatchConcurrency(t *testing.T) {
	var g *gateway.Gateway
	var running, most atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), running.Add(1)))
		for testutil.ToFloat64(g.Counters().Refused[telemetry.RefusedOverload]) < 3 && r.Context().Err() == nil {
			runtime.Gosched() // until all of the batch have come
		}
		running.Add(-1)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer service.Close()
	g = gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nlimits: {max_calls: 2}\n", service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", "")
	c.Send("ping", "", "")
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Mcp-Session-Id": {c.Session}}
	var calls []string
	for n := range 5 {
		calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list","arguments":{}}}`, n))
	}
	body := gatewaytest.Post(g.Handler(), header, "["+strings.Join(calls, ",")+"]").Body.String()
	const refused = "too many calls run: come again in 1 second; lists are served"
	if served := strings.Count(body, `"result"`); most.Load() > 2 || served != 2 || strings.Count(body, refused) != 3 {
		t.Errorf("%d at a time, %d served: %s", most.Load(), served, body)
	}
}
