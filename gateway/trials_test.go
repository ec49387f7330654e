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

	"drawbridge/gateway/audit"
	"drawbridge/test/gatewaytest"
)

// TestTrial holds what an operator sees of a call: the request as it was sent and the answer, without credentials wherever they
// stand, and without sensitive fields.
func TestTrial(t *testing.T) {
	const document = `openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders/{id}: {post: {operationId: change, parameters: [{name: id, in: path, required: true, schema: {type: string}}, {name: q, in: query, schema: {type: string}}],
    requestBody: {content: {application/json: {schema: {type: object}}}}, responses: {'200': {description: ok, content: {application/json: {schema: {type: object}}}}}}}
`
	const secret, other, pin = "canary-credential-1", "canary-query-2", "canary-pin-4"
	var arrived *http.Request
	var sent []byte
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived = r
		sent, _ = io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=canary-session-3")
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"token": %q, "inner": "x %s y", "pin": %q, "plain": "kept"}`, secret, other, pin)
	}))
	t.Cleanup(service.Close)
	g := gatewaytest.Start(t, document, `apis: [{name: shop, spec: $SPEC, base_url: $BASE, credential: {type: bearer, token: `+secret+`},
  request: {query: {key: {secret: `+other+`}}, headers: {X-Plan: {value: gold}}}}]
rules: [{match: {operation: change}, set: {sensitive_fields: [pin]}}]`, service.URL)
	trials := g.Trials()
	tool, ok := trials.Trial("change")
	if !ok || tool.Refused != "" || tool.Method != "POST" || !strings.Contains(string(tool.Input), `"q"`) {
		t.Fatalf("%+v", tool)
	}
	request, err := trials.Request(t.Context(), "change", json.RawMessage(`{"id":"7","q":"a b","body":{"n":1}}`))
	if shown := fmt.Sprintf("%+v", request); err != nil || arrived != nil || strings.Contains(shown, "canary") || request.RequestBody != `{"n":1}` ||
		!strings.Contains(request.URL, "/orders/7?q=a%20b&key=[hidden]") || !strings.Contains(shown, "{Name:X-Plan Value:[hidden]}") {
		t.Errorf("the request before it is sent: %v %s", err, shown)
	}
	if _, err := trials.Request(t.Context(), "change", json.RawMessage(`{"q":"a"}`)); err == nil || !strings.Contains(err.Error(), `"id"`) {
		t.Errorf("a call without its required argument: %v", err)
	}
	result, err := trials.Try(t.Context(), "admin:mia", "change", json.RawMessage(`{"id":"7","q":"a b","body":{"n":1}}`))
	if err != nil || len(result.Exchanges) != 1 {
		t.Fatalf("%v %+v %s", err, result.Exchanges, result.Result)
	}
	if arrived.Header.Get("Authorization") != "Bearer "+secret || arrived.URL.Query().Get("key") != other || string(sent) != `{"n":1}` {
		t.Fatalf("the service got %v %s %s", arrived.Header, arrived.URL, sent)
	}
	shown := fmt.Sprintf("%+v", result.Exchanges)
	for _, want := range []string{"POST", "/orders/7?", "q=a", "key=[hidden]", "{Name:Authorization Value:[hidden]}", "{Name:X-Plan Value:[hidden]}", "{Name:Content-Type Value:application/json}",
		"{Name:Set-Cookie Value:[hidden]}", `{"n":1}`, `"plain"`, "Status:200"} {
		if !strings.Contains(shown, want) {
			t.Errorf("there is no %q in %s", want, shown)
		}
	}
	if all := shown + string(result.Result) + result.Cause; strings.Contains(all, "canary") {
		t.Errorf("a secret is shown: %s", all)
	}
}

// TestTrialAnswers holds what is shown of answers that are no JSON, are large, or never come.
func TestTrialAnswers(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/") {
		case "bytes":
			_, _ = w.Write([]byte("\xff\xfe\x00\x01"))
		case "large":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, strings.Repeat("é", 100<<10))
		case "hangup":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(service.Close)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "bytes", "large", "hangup"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]", service.URL)
	for tool, want := range map[string]string{"bytes": "200 [bytes that are no text] false", "large": "200 éé true", "hangup": "0  false"} {
		result, err := g.Trials().Try(t.Context(), "admin:mia", tool, nil)
		if err != nil || len(result.Exchanges) == 0 {
			t.Errorf("%s: %v %+v", tool, err, result)
			continue
		}
		e := result.Exchanges[0]
		body := e.ResponseBody
		if tool == "large" {
			if len(body) < 32<<10 || len(body) > 64<<10 || strings.Trim(body, "é") != "" {
				t.Errorf("%d bytes of a large answer are shown, %q", len(body), strings.Trim(body, "é"))
			}
			body = "éé"
		}
		if got := fmt.Sprint(e.Status, " ", body, " ", e.ResponseBodyCut); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
		if (tool == "hangup") != (result.Cause != "") {
			t.Errorf("%s: cause %q", tool, result.Cause)
		}
	}
}

// TestTrialRefused holds that a tool whose calls are those of a user isn't called.
func TestTrialRefused(t *testing.T) {
	calls := 0
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls++ }))
	t.Cleanup(service.Close)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE, pass_headers: [X-User]}]", service.URL)
	trials := g.Trials()
	tool, _ := trials.Trial("list")
	_, err := trials.Try(t.Context(), "admin:mia", "list", nil)
	if !strings.Contains(tool.Refused, "pass_headers") || err == nil || err.Error() != tool.Refused || calls > 0 {
		t.Errorf("%q; %v; %d calls", tool.Refused, err, calls)
	}
	if _, ok := trials.Trial("nothing"); ok {
		t.Error("there is a tool of an unknown name")
	}
}

// TestTrialAudit holds that the audit log names the operator, and that the condition of a tool holds for operators.
func TestTrialAudit(t *testing.T) {
	a := gatewaytest.Accounted(t, audit.Options{Key: []byte("key"), NoDigest: true}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	})
	trials := a.Trials()
	common := func(m map[string]any) map[string]any {
		for k, v := range map[string]any{"operator": "admin:mia", "rpc": "tools/call", "tool": "get", "api": "shop", "method": "GET", "path": "/orders/{id}", "protocol": "2026-07-28"} {
			m[k] = v
		}
		return m
	}
	for args, want := range map[string]map[string]any{
		`{"id":17}`: {"decision": "allowed", "outcome": "ok", "status": 200.0, "requests": 1.0, "bytes_sent": 0.0, "bytes_received": 7.0, "result_bytes": 7.0},
		`{"id":13}`: {"decision": "refused", "outcome": "not_permitted", "result_bytes": 207.0},
	} {
		if _, err := trials.Try(t.Context(), "admin:mia", "get", json.RawMessage(args)); err != nil {
			t.Fatal(err)
		}
		line := a.Lines(1)[0]
		delete(line, "request")
		if diff := cmp.Diff(common(want), line); diff != "" {
			t.Errorf("%s (-want +got)\n%s", args, diff)
		}
	}
}
