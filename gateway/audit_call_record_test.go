package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/mcp"
	"drawbridge/test/timebox"
)

const accountedDocument = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders/{id}:
    get: {operationId: get, parameters: [{name: id, in: path, required: true, schema: {type: integer}}, {name: pin, in: query, schema: {type: string}}],
      responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}
    delete: {operationId: delete, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {'204': {description: ok}}}
  /stock: {get: {operationId: stock, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}
  /secret: {get: {operationId: secret, responses: {'200': {description: ok}}}}
`

// accounting is a gateway with an audit log, in front of a service that answers as the test has it.
type accounting struct {
	*running
	i       *idp
	service *httptest.Server
	out     *sink
	seen    int // lines that the test has had
}

func accounted(t *testing.T, o audit.Options, answer http.HandlerFunc) *accounting {
	t.Helper()
	return accountedWith(t, o, Options{}, answer)
}

// accountedWith is accounted with other options of the gateway; the audit log is filled in.
func accountedWith(t *testing.T, o audit.Options, options Options, answer http.HandlerFunc) *accounting {
	t.Helper()
	a := &accounting{out: &sink{}, i: newIDP(t)}
	service := httptest.NewServer(answer)
	t.Cleanup(service.Close)
	a.service = service
	if o.Output == nil {
		o.Output = a.out
	}
	log, err := audit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	t.Cleanup(func() { cancel(); timebox.Wait(t, ended) })
	options.Audit = log
	a.running = runWith(t, map[string]string{"a.yaml": accountedDocument, "drawbridge.yaml": fmt.Sprintf(`
server: {public_url: %s, trusted_proxies: [192.0.2.1]}
auth: {issuers: [%s], default_scopes: [mcp:tools]}
apis: [{name: shop, spec: a.yaml, base_url: %q, follow_redirects: same_origin}]
rules:
  - {match: {operation: get}, set: {condition: 'args.id != 13', sensitive_fields: [pin]}}
  - {match: {operation: delete}, set: {confirm: true}}
  - {match: {operation: stock}, set: {resource: true}}
  - {match: {operation: secret}, set: {scopes: [admin]}}
prompts:
  - {name: status, messages: [{tool: stock}]}
endpoints: [{name: part, match: {operation: stock}}]
`, publicURL, issuers(a.i), service.URL)}, options)
	a.eventually("all is served", func() bool { return a.Status().Tools == 4 })
	return a
}

// lines returns the next lines when there are as many, as objects, without what differs each time. Each must fit what docs say of it.
func (a *accounting) lines(n int) (found []map[string]any) {
	a.t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../docs/audit.schema.json")
	if err != nil {
		a.t.Fatal(err)
	}
	a.eventually("the lines are written", func() bool { return strings.Count(a.out.String(), "\n") >= a.seen+n })
	all := strings.Split(strings.TrimSuffix(a.out.String(), "\n"), "\n")
	for _, line := range all[a.seen:] {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			a.t.Fatalf("%v: %s", err, line)
		}
		if err := schema.Validate(v); err != nil {
			a.t.Errorf("%v: %s", err, line)
		}
		m := map[string]any{}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			a.t.Fatal(err)
		}
		delete(m, "time")
		delete(m, "duration_ms")
		found = append(found, m)
	}
	a.seen = len(all)
	return found
}

// TestAccounts holds what the audit log tells of calls of each kind, and that each has one line, in both eras.
func TestAccounts(t *testing.T) {
	a := accounted(t, audit.Options{Key: []byte("key"), Fields: []string{"/id", "/pin"}, Subject: audit.PlainSubject}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/404") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	})
	caller := map[string]any{"issuer": a.i.URL, "subject": "alice", "client": "app", "scopes": []any{"mcp:tools"}}
	tool := func(name, method, path string) map[string]any {
		return map[string]any{"rpc": "tools/call", "tool": name, "api": "shop", "method": method, "path": path}
	}
	get, stock := tool("get", "GET", "/orders/{id}"), tool("stock", "GET", "/stock")
	for _, tt := range []struct {
		name, method, target, arguments string
		want                            []map[string]any
	}{
		{"a call", "tools/call", "get", `{"pin":"1234","id":17}`, []map[string]any{get, {"fields": map[string]any{"/id": 17.0},
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0}}},
		{"the service refuses", "tools/call", "get", `{"id":404}`, []map[string]any{get, {"fields": map[string]any{"/id": 404.0},
			"decision": "allowed", "outcome": "client_error", "status": 404.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 19.0}}},
		{"wrong arguments", "tools/call", "get", `{"id":"x\r\n"}`, []map[string]any{get, {"fields": map[string]any{"/id": "x\r\n"}, "decision": "allowed", "outcome": "bad_arguments"}}},
		{"a condition", "tools/call", "get", `{"id":13}`, []map[string]any{get, {"fields": map[string]any{"/id": 13.0}, "decision": "refused", "outcome": "not_permitted"}}},
		{"nobody to ask", "tools/call", "delete", `{"id":1}`, []map[string]any{tool("delete", "DELETE", "/orders/{id}"),
			{"fields": map[string]any{"/id": 1.0}, "decision": "refused", "outcome": "not_confirmed"}}},
		{"no scope", "tools/call", "secret", `{}`, []map[string]any{tool("secret", "GET", "/secret"), {"fields": map[string]any{}, "decision": "refused", "outcome": "insufficient_scope"}}},
		{"no tool", "tools/call", "none\r\n{}", `{}`, []map[string]any{{"rpc": "tools/call", "tool": "none\r\n{}", "fields": map[string]any{}, "decision": "refused", "outcome": "unknown_tool"}}},
		{"a prompt", "prompts/get", "status", `{}`, []map[string]any{stock, {"rpc": "prompts/get", "fields": map[string]any{},
			"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0}}},
		{"no call", "tools/list", "", ``, nil},
	} {
		for _, era := range eras {
			t.Run(tt.name+" "+era, func(t *testing.T) {
				c := newClient(t, a.Handler(), era, a.i.token(t, nil))
				if strings.Contains(tt.target, "\n") && era >= "2026" {
					return // a header can't say it
				}
				c.send(tt.method, tt.target, tt.arguments)
				parts := tt.want
				if parts == nil {
					c.send("tools/call", "stock", "{}") // so that there is something to wait for
					parts = []map[string]any{stock, {"fields": map[string]any{}, "decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0}}
				}
				want := merged(append([]map[string]any{caller}, parts...)...)
				got := a.lines(1)
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
				if diff := cmp.Diff(want, got[0]); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
	t.Run("a resource and an endpoint", func(t *testing.T) {
		c := newClient(t, a.Handler(), eras[0], a.i.token(t, nil))
		uri := a.current.Load().Main.Plan("stock").Resource.URI.String()
		c.read(uri)
		if got := a.lines(1)[0]; got["rpc"] != "resources/read" || got["outcome"] != "ok" || got["tool"] != "stock" {
			t.Errorf("%v", got)
		}
		h := http.Header{"Authorization": {"Bearer " + a.i.token(t, map[string]any{"aud": []string{resourceURL + "/part"}})}}
		h.Set("X-Request-Id", "of-the-proxy")
		a.post(h, "/mcp/part")
		if got := a.lines(1)[0]; got["endpoint"] != "part" || got["request"] == "of-the-proxy" {
			t.Errorf("%v: the peer is no trusted proxy", got)
		}
		a.post(h, "/mcp/part", "192.0.2.1:99")
		if got := a.lines(1)[0]; got["request"] != "of-the-proxy" {
			t.Errorf("%v", got)
		}
	})
}

// post makes a modern call of stock; from is the peer.
func (a *accounting) post(h http.Header, path string, from ...string) {
	a.t.Helper()
	h = h.Clone()
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "stock"} {
		h.Set(name, value)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stock","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequest(http.MethodPost, publicURL+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header, r.RemoteAddr = h, "192.0.2.9:99"
	if len(from) > 0 {
		r.RemoteAddr = from[0]
	}
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, r)
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

// TestAccountOfRequests tells how often the service was asked, whatever the gateway tried.
func TestAccountOfRequests(t *testing.T) {
	answers := 0
	a := accounted(t, audit.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		if answers++; answers == 1 {
			http.Error(w, "restarting", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	})
	told := func() string {
		line := a.lines(1)[0]
		return fmt.Sprint(line["outcome"], " ", line["status"], " ", line["requests"], " ", line["bytes_received"])
	}
	c := newClient(t, a.Handler(), eras[0], a.i.token(t, nil))
	c.call("stock")
	if got := told(); got != "ok 200 2 7" {
		t.Errorf("sent again: %s", got)
	}
	a.service.Close()
	c.call("stock")
	if got := told(); got != "connect <nil> <nil> <nil>" {
		t.Errorf("never sent: %s", got)
	}
	if lines := metricLines(a.Gateway, "drawbridge_service_received_bytes_total{"); len(lines) != 1 || !strings.HasSuffix(lines[0], " 7") {
		t.Errorf("received: %v", lines)
	}
}

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, http.ErrAbortHandler }

// slowOutput is an output that takes its time.
type slowOutput chan struct{}

func (s slowOutput) Write(p []byte) (int, error) { <-s; return len(p), nil }

// TestNothingUnaudited makes no call once the lines of a few have no room, because the output is slow, and tells the model why.
func TestNothingUnaudited(t *testing.T) {
	calls, output := 0, make(slowOutput)
	a := accounted(t, audit.Options{Output: output, Buffer: 3}, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusNoContent)
	})
	t.Cleanup(func() { close(output) }) // before the log ends
	c := newClient(t, a.Handler(), eras[0], a.i.token(t, nil))
	for range 3 {
		c.call("stock")
	}
	w := c.call("stock")
	if calls != 3 || !bytes.Contains(w.Body.Bytes(), []byte("The gateway can't write its audit log now")) || !bytes.Contains(w.Body.Bytes(), []byte(`"isError":true`)) {
		t.Errorf("%d calls, the fourth: %d %s", calls, w.Code, w.Body)
	}
	if lines := metricLines(a.Gateway, "drawbridge_tool_calls_total", `outcome="unaudited"`); len(lines) != 1 {
		t.Errorf("counted: %v", lines)
	}
}

// TestNothingUnauditedAfterAnError: once a line could not be written, calls are refused with 503 at once, with room for their lines or
// without, and whether the header names the call or not.
func TestNothingUnauditedAfterAnError(t *testing.T) {
	calls := 0
	a := accounted(t, audit.Options{Output: broken{}}, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusNoContent)
	})
	clients := []*client{newClient(t, a.Handler(), eras[0], a.i.token(t, nil)), newClient(t, a.Handler(), eras[1], a.i.token(t, nil))}
	clients[1].send("tools/list", "", "")
	clients[0].call("stock")
	a.eventually("the error is noticed", func() bool { return a.Status().Audit.Refuses })
	made := calls
	for _, c := range clients {
		if w := c.call("stock"); w.Code != http.StatusServiceUnavailable || !bytes.Contains(w.Body.Bytes(), []byte("nothing was sent")) {
			t.Errorf("%s: %d %s", c.revision, w.Code, w.Body)
		}
	}
	if calls != made {
		t.Errorf("%d calls were made without a record", calls-made)
	}
	if lines := metricLines(a.Gateway, `drawbridge_refused_total{reason="unaudited"}`); len(lines) != 1 || !strings.HasSuffix(lines[0], " 2") {
		t.Errorf("counted: %v", lines)
	}
}

// TestAccountOfATask has a line for each request about a job that is looked at later, and none for what is known without one.
func TestAccountOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := startJobs(t, reportsAPI(t), "", newJobService(acceptedJob+"===\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"status\":\"running\"}\n"))
		told := outcomesIn(t, g, func() {
			_, messages := callJob(t, g, jobCall{Name: "makeReport", Tasks: true}, "")
			for _, pause := range []time.Duration{0, 2 * time.Second, 0} { // there is one look, none before its time
				time.Sleep(pause)
				task, err := openAs(g, "", "", taskID(messages[0]))
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
