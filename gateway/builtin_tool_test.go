package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"drawbridge/gateway"
	"drawbridge/gateway/history"
	"drawbridge/gateway/telemetry"
	"drawbridge/test/gatewaytest"
	"drawbridge/test/timebox"
)

// TestBuiltInToolsAreRecorded: search_tools and describe_tools have an audit record, an entry in the history and a metric as every call
// has; a call through read_tool or call_tool has one of each, which name the called tool, and the other one in via.
func TestBuiltInToolsAreRecorded(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.SearchDocument, fmt.Sprintf(gatewaytest.SearchConfig, "")+"admin: {console: {enabled: true, show_bodies: true}}\n", service.URL)
	for _, tt := range []struct {
		tool, arguments string
		want            map[string]any // of the audit record
	}{
		{"search_tools", `{"query":"orders"}`, map[string]any{"tool": "search_tools", "decision": "allowed", "outcome": "ok", "result_bytes": 112.0}},
		{"search_tools", `{"limit":"x"}`, map[string]any{"tool": "search_tools", "decision": "allowed", "outcome": "bad_arguments", "result_bytes": 218.0}},
		{"describe_tools", `{"names":["listOrders"]}`, map[string]any{"tool": "describe_tools", "decision": "allowed", "outcome": "ok", "result_bytes": 115.0}},
		{"search_tools", `{"query":"zeppelin"}`, map[string]any{"tool": "search_tools", "decision": "allowed", "outcome": "ok", "result_bytes": 187.0}},
		{"describe_tools", `{"names":["gone","lost"]}`, map[string]any{"tool": "describe_tools", "decision": "allowed", "outcome": "bad_arguments", "result_bytes": 110.0}},
		{"read_tool", `{"name":"listOrders"}`, map[string]any{"tool": "listOrders", "via": "read_tool", "api": "shop", "method": "GET", "path": "/orders",
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 13.0, "result_bytes": 13.0}},
		{"call_tool", `{"name":"listOrders"}`, map[string]any{"tool": "listOrders", "via": "call_tool", "api": "shop", "method": "GET", "path": "/orders",
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 13.0, "result_bytes": 13.0}},
		{"read_tool", `{"name":"cancelOrder","arguments":{"id":7}}`, map[string]any{"tool": "cancelOrder", "via": "read_tool", "api": "shop",
			"method": "DELETE", "path": "/orders/{id}", "decision": "allowed", "outcome": "bad_arguments", "result_bytes": 71.0}},
		{"call_tool", `{"name":"gone","arguments":{}}`, map[string]any{"tool": "gone", "via": "call_tool", "decision": "refused", "outcome": "unknown_tool"}},
		{"call_tool", `{"arguments":{}}`, map[string]any{"tool": "call_tool", "decision": "allowed", "outcome": "bad_arguments", "result_bytes": 141.0}},
		{"listOrders", `{}`, map[string]any{"tool": "listOrders", "api": "shop", "method": "GET", "path": "/orders",
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 13.0, "result_bytes": 13.0}},
	} {
		for _, revision := range gatewaytest.AllRevisions {
			c := gatewaytest.NewClient(t, g.Handler(), revision, "")
			before := g.CallRunner().History.Newest()
			text := auditOf(t, g, func() { c.Send("tools/call", tt.tool, tt.arguments) })
			if strings.Count(text, "\n") != 1 {
				t.Fatalf("%s %s: %q, want one record", tt.tool, tt.arguments, text)
			}
			got := map[string]any{}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"time", "duration_ms", "request", "arguments_hash", "rpc"} {
				if got[name] == nil {
					t.Errorf("%s %s: no %s", tt.tool, tt.arguments, name)
				}
				delete(got, name)
			}
			delete(got, "replica")
			if session, _ := got["session"].(string); got["protocol"] != revision || (len(session) == 16) != (revision < "2026") {
				t.Errorf("%s, %s %s: protocol %v, session %q", revision, tt.tool, tt.arguments, got["protocol"], session)
			}
			delete(got, "protocol")
			delete(got, "session")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s %s: (-want +got)\n%s", revision, tt.tool, tt.arguments, diff)
			}
			var seen history.Call
			g.CallRunner().History.Last(1, func(call *history.Call) bool { seen = *call; return true })
			via, _ := tt.want["via"].(string)
			if g.CallRunner().History.Newest() != before+1 || seen.Tool != tt.want["tool"] || seen.Via != via || seen.Outcome != tt.want["outcome"] || seen.RPC != "tools/call" {
				t.Errorf("%s, %s %s: the history has %+v", revision, tt.tool, tt.arguments, seen)
			}
		}
	}
	n := len(gatewaytest.AllRevisions)
	for _, want := range []string{
		fmt.Sprintf(`drawbridge_tool_calls_total{api="",outcome="ok",tool="search_tools"} %d`, 2*n),
		fmt.Sprintf(`drawbridge_tool_calls_total{api="",outcome="bad_arguments",tool="search_tools"} %d`, n),
		fmt.Sprintf(`drawbridge_tool_calls_total{api="",outcome="ok",tool="describe_tools"} %d`, n),
		fmt.Sprintf(`drawbridge_tool_calls_total{api="shop",outcome="ok",tool="listOrders"} %d`, 3*n),
		fmt.Sprintf(`drawbridge_tool_searches_total{result="found"} %d`, n),
		fmt.Sprintf(`drawbridge_tool_searches_total{result="nothing"} %d`, n),
		`drawbridge_tool_calls_in_flight 0`,
	} {
		if len(gatewaytest.MetricLines(g, want)) == 0 {
			t.Errorf("no %s in %q", want, gatewaytest.MetricLines(g, "drawbridge_tool_calls"))
		}
	}
	for _, never := range []string{`tool="read_tool"`, `drawbridge_upstream_requests_total{api=""`} {
		if lines := gatewaytest.MetricLines(g, never); len(lines) > 0 {
			t.Errorf("%q", lines)
		}
	}
}

// TestBuiltInToolsCountAsCalls: a search needs a slot of limits.max_calls, and is told to come again if there is none.
func TestBuiltInToolsCountAsCalls(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-leave
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"done":true}`)
	}))
	defer service.Close()
	g := gatewaytest.Start(t, gatewaytest.SearchDocument, fmt.Sprintf(gatewaytest.SearchConfig, "")+"limits: {max_calls: 1}\n", service.URL)
	done := make(chan *httptest.ResponseRecorder)
	go func() { done <- gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Call("listOrders") }()
	timebox.Wait(t, entered)
	for _, revision := range gatewaytest.AllRevisions {
		c := gatewaytest.NewClient(t, g.Handler(), revision, "")
		for tool, arguments := range map[string]string{"search_tools": `{"query":"orders"}`, "describe_tools": `{"names":["listOrders"]}`} {
			w := c.Send("tools/call", tool, arguments)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "too many calls run") {
				t.Errorf("%s, %s: %d %v %s", revision, tool, w.Code, w.Header(), w.Body)
			}
		}
	}
	if n := counted(t, g.Counters().Refused[telemetry.RefusedOverload]); n < float64(2*len(gatewaytest.AllRevisions)) {
		t.Errorf("%v refusals counted", n)
	}
	close(leave)
	if w := timebox.Receive(t, done); !gatewaytest.Succeeded(w) {
		t.Errorf("the call that ran: %d %s", w.Code, w.Body)
	}
	if text, isError := gatewaytest.TextOf(t, gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "").Send("tools/call", "search_tools", `{"query":"orders"}`)); isError {
		t.Errorf("with a slot again: %s", text)
	}
	if n := g.Overload().InFlight(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
}

// TestBuiltInToolsHaveSpans: a search has a server span like every call, and the span of a call through call_tool has that name.
func TestBuiltInToolsHaveSpans(t *testing.T) {
	service, spans := gatewaytest.NewRecordingService(t), tracetest.NewSpanRecorder()
	g, err := gateway.New(gateway.Options{Config: gatewaytest.Configure(t, t.TempDir(), gatewaytest.SearchDocument, fmt.Sprintf(gatewaytest.SearchConfig, ""), service.URL),
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := gatewaytest.NewClient(t, g.Handler(), "2026-07-28", "")
	c.Send("tools/call", "search_tools", `{"query":"orders"}`)
	c.Send("tools/call", "search_tools", `{}`)
	c.Send("tools/call", "call_tool", `{"name":"listOrders"}`)
	var got []string
	for _, span := range spans.Ended() {
		if !strings.HasPrefix(span.Name(), "tools/call ") {
			continue
		}
		text := span.Name()
		for _, a := range span.Attributes() {
			switch a.Key {
			case "gen_ai.tool.name", "drawbridge.api", "drawbridge.via", "drawbridge.outcome", "gen_ai.operation.name", "error.type":
				text += fmt.Sprintf(" %s=%s", a.Key, a.Value.AsString())
			}
		}
		got = append(got, text)
	}
	want := []string{
		"tools/call search_tools gen_ai.tool.name=search_tools gen_ai.operation.name=execute_tool drawbridge.outcome=ok",
		"tools/call search_tools gen_ai.tool.name=search_tools gen_ai.operation.name=execute_tool drawbridge.outcome=bad_arguments error.type=tool_error",
		"tools/call listOrders gen_ai.tool.name=listOrders drawbridge.api=shop drawbridge.via=call_tool gen_ai.operation.name=execute_tool drawbridge.outcome=ok",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestBuiltInToolsCountAsRequests: a search above the rate of its caller is refused, and has a record like every refused request.
func TestBuiltInToolsCountAsRequests(t *testing.T) {
	for _, revision := range gatewaytest.Eras {
		i := gatewaytest.NewIDP(t)
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+"limits: {principal_rate: {rate: 1/h, burst: 1}}\n", "http://127.0.0.1:1")
		c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, nil))
		told := outcomesIn(t, g, func() {
			for _, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
				if w := c.Send("tools/call", "search_tools", `{"query":"list"}`); w.Code != want {
					t.Errorf("%s: %d %s, want %d", revision, w.Code, w.Body, want)
				}
			}
		})
		if diff := cmp.Diff([]string{"tools/call allowed ok 0 0", "tools/call refused principal_rate answered 429"}, told); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", revision, diff)
		}
	}
}
