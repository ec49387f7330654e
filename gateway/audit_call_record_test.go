package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/mcp"
	"drawbridge/test/gatewaytest"
)

// TestAccounts holds what the audit log tells of calls of each kind, and that each has one line, in both eras.
func TestAccounts(t *testing.T) {
	a := gatewaytest.Accounted(t, audit.Options{Key: []byte("key"), Fields: []string{"/id", "/pin"}, Subject: audit.PlainSubject}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/404") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	})
	caller := map[string]any{"credential": "jwt", "issuer": a.I.URL, "subject": "alice", "client": "app", "scopes": []any{"mcp:tools"}}
	tool := func(name, method, path string) map[string]any {
		return map[string]any{"rpc": "tools/call", "tool": name, "api": "shop", "method": method, "path": path}
	}
	get, stock := tool("get", "GET", "/orders/{id}"), tool("stock", "GET", "/stock")
	for _, tt := range []struct {
		name, method, target, arguments string
		want                            []map[string]any
	}{
		{"a call", "tools/call", "get", `{"pin":"1234","id":17}`, []map[string]any{get, {"fields": map[string]any{"/id": 17.0},
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0, "result_bytes": 7.0}}},
		{"the service refuses", "tools/call", "get", `{"id":404}`, []map[string]any{get, {"fields": map[string]any{"/id": 404.0},
			"decision": "allowed", "outcome": "client_error", "status": 404.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 19.0, "result_bytes": 132.0}}},
		{"wrong arguments", "tools/call", "get", `{"id":"x\r\n"}`, []map[string]any{get, {"fields": map[string]any{"/id": "x\r\n"}, "decision": "allowed", "outcome": "bad_arguments", "result_bytes": 190.0}}},
		{"a condition", "tools/call", "get", `{"id":13}`, []map[string]any{get, {"fields": map[string]any{"/id": 13.0}, "decision": "refused", "outcome": "not_permitted", "result_bytes": 207.0}}},
		{"nobody to ask", "tools/call", "delete", `{"id":1}`, []map[string]any{tool("delete", "DELETE", "/orders/{id}"),
			{"fields": map[string]any{"/id": 1.0}, "decision": "refused", "outcome": "not_confirmed", "result_bytes": 180.0}}},
		{"no scope", "tools/call", "secret", `{}`, []map[string]any{tool("secret", "GET", "/secret"), {"fields": map[string]any{}, "decision": "refused", "outcome": "insufficient_scope"}}},
		{"no tool", "tools/call", "none\r\n{}", `{}`, []map[string]any{{"rpc": "tools/call", "tool": "none\r\n{}", "fields": map[string]any{}, "decision": "refused", "outcome": "unknown_tool"}}},
		{"a prompt", "prompts/get", "status", `{}`, []map[string]any{stock, {"rpc": "prompts/get", "fields": map[string]any{},
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0}}},
		{"no call", "tools/list", "", ``, nil},
	} {
		for _, era := range gatewaytest.Eras {
			t.Run(tt.name+" "+era, func(t *testing.T) {
				c := gatewaytest.NewClient(t, a.Handler(), era, a.I.Token(t, nil))
				if strings.Contains(tt.target, "\n") && era >= "2026" {
					return // a header can't say it
				}
				c.Send(tt.method, tt.target, tt.arguments)
				parts := tt.want
				if parts == nil {
					c.Send("tools/call", "stock", "{}") // so that there is something to wait for
					parts = []map[string]any{stock, {"fields": map[string]any{}, "decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0, "result_bytes": 7.0}}
				}
				want := merged(append([]map[string]any{caller, {"protocol": era}}, parts...)...)
				got := a.Lines(1)
				if len(got) != 1 {
					t.Fatalf("%d lines: %v", len(got), got)
				}
				if id, _ := got[0]["request"].(string); len(id) != 16 {
					t.Errorf("request %q", id)
				}
				delete(got[0], "request")
				if hash, _ := got[0]["arguments_hash"].(string); len(hash) != 64 {
					t.Errorf("hash %q", hash)
				}
				delete(got[0], "arguments_hash")
				if session, _ := got[0]["session"].(string); (len(session) == 16) != (era < "2026") {
					t.Errorf("session %q", session)
				}
				delete(got[0], "session")
				if diff := cmp.Diff(want, got[0]); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
	t.Run("a resource and an endpoint", func(t *testing.T) {
		c := gatewaytest.NewClient(t, a.Handler(), gatewaytest.Eras[0], a.I.Token(t, nil))
		uri := a.Current().Main.Plan("stock").Resource.URI.String()
		c.Read(uri)
		if got := a.Lines(1)[0]; got["rpc"] != "resources/read" || got["outcome"] != "ok" || got["tool"] != "stock" {
			t.Errorf("%v", got)
		}
		h := http.Header{"Authorization": {"Bearer " + a.I.Token(t, map[string]any{"aud": []string{gatewaytest.ResourceURL + "/part"}})}}
		h.Set("X-Request-Id", "of-the-proxy")
		a.Post(h, "/mcp/part")
		if got := a.Lines(1)[0]; got["endpoint"] != "part" || got["request"] == "of-the-proxy" {
			t.Errorf("%v: the peer is no trusted proxy", got)
		}
		a.Post(h, "/mcp/part", "192.0.2.1:99")
		if got := a.Lines(1)[0]; got["request"] != "of-the-proxy" {
			t.Errorf("%v", got)
		}
	})
}

func merged(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, one := range all {
		for name, value := range one {
			out[name] = value
		}
	}
	return out
}

// TestAccountOfATask has a line for each request about a job that is looked at later, and none for what is known without one.
func TestAccountOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gatewaytest.StartJobs(t, gatewaytest.ReportsAPI, "", gatewaytest.NewJobService(gatewaytest.AcceptedJob+"===\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"running\"}\n"))
		told := outcomesIn(t, g, func() {
			_, messages := gatewaytest.CallJob(t, g, gatewaytest.JobCall{Name: "makeReport", Tasks: true}, "")
			for _, pause := range []time.Duration{0, 2 * time.Second, 0} { // there is one look, none before its time
				time.Sleep(pause)
				task, err := openAs(g, "", "", gatewaytest.TaskID(messages[0]))
				if err != nil {
					t.Fatal(err)
				}
				task.Call.Method = "tasks/get"
				ctx := task.Call.Resume(task.ctx)
				if rec, err := task.State(ctx); err != nil || rec.Status != mcp.TaskWorking {
					t.Errorf("%+v, %v", rec, err)
				}
				task.Call.Close()
			}
		})
		if diff := cmp.Diff([]string{"tools/call allowed job 202 1", "tasks/get allowed ok 200 1"}, told); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}
