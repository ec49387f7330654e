package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// modern sends a tools/call of a modern client that can be asked with a form, or not; retry are members of params that an
// answer consists of.
func modern(t *testing.T, h http.Handler, token, tool, arguments, retry string, form bool) (status int, result map[string]json.RawMessage, body string) {
	t.Helper()
	capabilities := `{}`
	if form {
		capabilities = `{"elicitation":{"form":{}}}`
	}
	header := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool},
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	w := post(h, header, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}}`, tool, arguments, retry, capabilities))
	var answer struct{ Result map[string]json.RawMessage }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return w.Code, answer.Result, w.Body.String()
}

const confirmConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
tools: {confirm: destructive%s}
rules:
  - {match: {operation: harmless}, set: {confirm: false}}
  - {match: {operation: look}, set: {confirm: true}}
`

const confirmDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders/{id}:
    delete:
      operationId: cancel
      summary: Cancel an order
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /ping: {post: {operationId: harmless, responses: {"200": {description: ok}}}}
  /orders: {get: {operationId: list, responses: {"200": {description: ok}}}}
  /secret: {get: {operationId: look, responses: {"200": {description: ok}}}}
`

// TestConsent holds that a destructive call is made once the user has agreed to it, to it alone, and once (pains row 48).
func TestConsent(t *testing.T) {
	service := newRecordingService(t)
	g := start(t, confirmDocument, fmt.Sprintf(confirmConfig, ""), service.URL)
	call := func(tool, arguments, retry string) (map[string]json.RawMessage, string, int) {
		t.Helper()
		_, result, body := modern(t, g.Handler(), "", tool, arguments, retry, true)
		return result, body, len(service.taken())
	}
	for _, tool := range []string{"harmless", "list"} {
		if _, body, sent := call(tool, `{}`, ""); sent != 1 {
			t.Errorf("%s: %s", tool, body)
		}
	}
	// Wrong arguments are told before the user is bothered.
	if _, body, sent := call("cancel", `{"id":"x"}`, ""); sent != 0 || !strings.Contains(body, "expected integer") {
		t.Errorf("wrong arguments: %s", body)
	}
	asked, body, sent := call("cancel", `{"id":"7"}`, "")
	want := `{"confirm":{"method":"elicitation/create","params":{"message":"Allow \"Cancel an order\" (cancel)? It is DELETE /orders/{id} of shop, ` +
		`with the arguments {\"id\":7}","requestedSchema":{"type":"object","properties":{"go_ahead":{"type":"boolean","title":"Go ahead","default":false}},"required":["go_ahead"]}}}}`
	if got := strings.Replace(string(asked["inputRequests"]), `"params":{"mode":"form",`, `"params":{`, 1); sent != 0 || string(asked["resultType"]) != `"input_required"` || got != want {
		t.Fatalf("asked\n%s\nwant\n%s\n%d requests, %s", got, want, sent, body)
	}
	answer := func(state json.RawMessage, response string) string {
		return fmt.Sprintf(`"requestState":%s,"inputResponses":{"confirm":%s},`, state, response)
	}
	const yes = `{"action":"accept","content":{"go_ahead":true}}`
	for name, tt := range map[string]struct{ response, want string }{
		"declined":  {`{"action":"decline"}`, "The user did not agree"},
		"unchecked": {`{"action":"accept","content":{"go_ahead":false}}`, "The user did not agree"},
		"empty":     {`{"action":"accept","content":{}}`, "The user did not agree"},
		"null":      {`{"action":"accept","content":{"go_ahead":null}}`, "The user did not agree"},
		"a text":    {`{"action":"accept","content":{"go_ahead":"true"}}`, "The user did not agree"},
		"a number":  {`{"action":"accept","content":{"go_ahead":1}}`, "The user did not agree"},
		"another":   {`{"action":"accept","content":{"Go_Ahead":true}}`, "The user did not agree"},
		"cancelled": {`{"action":"cancel"}`, "The user has not decided"},
	} {
		fresh, _, _ := call("cancel", `{"id":7}`, "")
		if _, body, sent := call("cancel", `{"id":7}`, answer(fresh["requestState"], tt.response)); sent != 0 || !strings.Contains(body, tt.want) || !strings.Contains(body, `"isError":true`) {
			t.Errorf("%s: %d requests, %s", name, sent, body)
		}
	}
	// Consent to one call is none to another.
	fresh, _, _ := call("cancel", `{"id":7}`, "")
	if _, body, sent := call("cancel", `{"id":8}`, answer(fresh["requestState"], yes)); sent != 0 {
		t.Errorf("other arguments: %s", body)
	}
	if _, body, sent := call("look", `{}`, answer(fresh["requestState"], yes)); sent != 0 {
		t.Errorf("another tool: %s", body)
	}
	if _, body, sent := call("cancel", `{"id":"7"}`, answer(asked["requestState"], yes)); sent != 1 {
		t.Errorf("agreed: %s", body)
	}
	if _, body, sent := call("cancel", `{"id":"7"}`, answer(asked["requestState"], yes)); sent != 0 {
		t.Errorf("a second time: %s", body)
	}
	// On the command line the operator has agreed.
	if _, err := callAsOperator(t.Context(), g, "cancel", json.RawMessage(`{"id":1}`)); err != nil || len(service.taken()) != 1 {
		t.Errorf("on the command line: %v", err)
	}
}

// TestNoConsentPossible holds what becomes of clients that can't ask, and of callers that need not (pains row 48).
func TestNoConsentPossible(t *testing.T) {
	i, service := newIDP(t), newRecordingService(t)
	for _, tt := range []struct {
		tools string
		scope string
		sent  int
	}{
		{"", "mcp:tools", 0},
		{", unconfirmed: allow", "mcp:tools", 1},
		{", unconfirmed_scopes: [batch]", "mcp:tools", 0},
		{", unconfirmed_scopes: [batch]", "mcp:tools batch", 1},
		{", unconfirmed_scopes: [batch, night]", "mcp:tools batch", 0},
	} {
		cfg := "server: {public_url: https://mcp.example.com}\nauth: {issuers: [" + issuers(i) + "], default_scopes: [mcp:tools]}\n" +
			fmt.Sprintf(confirmConfig, tt.tools)
		g := start(t, confirmDocument, cfg, service.URL)
		_, _, body := modern(t, g.Handler(), i.token(t, map[string]any{"scope": tt.scope}), "cancel", `{"id":7}`, "", false)
		if sent := len(service.taken()); sent != tt.sent || tt.sent == 0 && !strings.Contains(body, "this client can't ask for it") {
			t.Errorf("%q with %q: %d requests, %s", tt.tools, tt.scope, sent, body)
		}
		// Who could be asked and need not is not.
		if strings.Contains(tt.scope, "batch") && tt.sent == 1 {
			_, result, body := modern(t, g.Handler(), i.token(t, map[string]any{"scope": tt.scope}), "cancel", `{"id":7}`, "", true)
			if len(service.taken()) != 1 || result["inputRequests"] != nil {
				t.Errorf("asked all the same: %s", body)
			}
		}
		// A legacy client without the capability can't be asked either.
		if w := newClient(t, g.Handler(), "2025-06-18", i.token(t, map[string]any{"scope": tt.scope})).send("tools/call", "cancel", `{"id":7}`); len(service.taken()) != tt.sent {
			t.Errorf("legacy, %q with %q: %s", tt.tools, tt.scope, w.Body)
		}
	}
}
