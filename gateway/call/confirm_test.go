package call_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestConsent holds that a destructive call is made once the user has agreed to it, to it alone, and once (pains row 48).
func TestConsent(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.ConfirmDocument, fmt.Sprintf(gatewaytest.ConfirmConfig, ""), service.URL)
	call := func(tool, arguments, retry string) (map[string]json.RawMessage, string, int) {
		t.Helper()
		_, result, body := gatewaytest.Modern(t, g.Handler(), "", tool, arguments, retry, true)
		return result, body, len(service.Taken())
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
	if _, err := gatewaytest.CallAsOperator(t.Context(), g, "cancel", json.RawMessage(`{"id":1}`)); err != nil || len(service.Taken()) != 1 {
		t.Errorf("on the command line: %v", err)
	}
}

// TestNoConsentPossible holds what becomes of clients that can't ask, and of callers that need not (pains row 48).
func TestNoConsentPossible(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
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
		cfg := "server: {public_url: https://mcp.example.com}\nauth: {issuers: [" + gatewaytest.Issuers(i) + "], default_scopes: [mcp:tools]}\n" +
			fmt.Sprintf(gatewaytest.ConfirmConfig, tt.tools)
		g := gatewaytest.Start(t, gatewaytest.ConfirmDocument, cfg, service.URL)
		_, _, body := gatewaytest.Modern(t, g.Handler(), i.Token(t, map[string]any{"scope": tt.scope}), "cancel", `{"id":7}`, "", false)
		if sent := len(service.Taken()); sent != tt.sent || tt.sent == 0 && !strings.Contains(body, "this client can't ask for it") {
			t.Errorf("%q with %q: %d requests, %s", tt.tools, tt.scope, sent, body)
		}
		// Who could be asked and need not is not.
		if strings.Contains(tt.scope, "batch") && tt.sent == 1 {
			_, result, body := gatewaytest.Modern(t, g.Handler(), i.Token(t, map[string]any{"scope": tt.scope}), "cancel", `{"id":7}`, "", true)
			if len(service.Taken()) != 1 || result["inputRequests"] != nil {
				t.Errorf("asked all the same: %s", body)
			}
		}
		// A legacy client without the capability can't be asked either.
		if w := gatewaytest.NewClient(t, g.Handler(), "2025-06-18", i.Token(t, map[string]any{"scope": tt.scope})).Send("tools/call", "cancel", `{"id":7}`); len(service.Taken()) != tt.sent {
			t.Errorf("legacy, %q with %q: %s", tt.tools, tt.scope, w.Body)
		}
	}
}
