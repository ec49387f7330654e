package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/test/gatewaytest"
)

// TestHiddenRefusalsAreAccounted: who is told that there is no such prompt, or given no values, for want of a scope, has a line that says so.
func TestHiddenRefusalsAreAccounted(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), "default_scopes", "hide_unauthorized: true\n  default_scopes", 1) +
		`  - {match: {operation: purge}, set: {resource: {uri: "shop://purge"}}}
  - {match: {operation: hidden}, set: {scopes: ["orders:admin"], resource: {uri: "shop://hidden/{id}"}}}
prompts:
  - {name: any, arguments: [{name: uri, required: true}], messages: [{resource: "{{uri}}"}]}
  - {name: special, scopes: [special], messages: [{text: hello}]}
  - {name: find, arguments: [{name: who, complete: {tool: purge, arguments: {}, values: /*}}], messages: [{text: "{{who}}"}]}
`
	const hidden = "  /hidden/{id}: {get: {operationId: hidden, parameters: [{name: id, in: path, required: true, schema: {type: string}}], responses: {'200': {description: ok}}}}\n"
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge")+hidden, cfg, service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], i.Token(t, map[string]any{"scope": "mcp:tools"}))
	old := gatewaytest.NewClient(t, g.Handler(), "2025-11-25", i.Token(t, map[string]any{"scope": "mcp:tools"}))
	complete := func(params string, want int) {
		header := c.Header.Clone()
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": gatewaytest.Eras[0], "Mcp-Method": "completion/complete"} {
			header.Set(name, value)
		}
		if w := gatewaytest.Post(c.H, header, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{`+params+
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`); w.Code != want {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	for _, tt := range []struct {
		name string
		send func()
		want []string
	}{
		{"a prompt", func() { c.Send("prompts/get", "special", "{}") }, []string{"prompts/get refused insufficient_scope answered 400"}},
		{"a prompt in the old revisions", func() { old.Send("prompts/get", "special", "{}") }, []string{"prompts/get refused insufficient_scope answered 200"}},
		{"a resource of a prompt", func() { c.Send("prompts/get", "any", `{"uri":"shop://purge"}`) }, []string{"prompts/get refused insufficient_scope answered 400"}},
		{"a prompt that is not there", func() { c.Send("prompts/get", "none", "{}") }, nil},
		{"a resource that is not there", func() { c.Send("prompts/get", "any", `{"uri":"shop://none"}`) }, nil},
		{"values of an argument", func() { complete(gatewaytest.CompleteParams(""), http.StatusOK) }, []string{"completion/complete refused insufficient_scope 0 0"}},
		{"values of a resource", func() {
			complete(`"ref":{"type":"ref/resource","uri":"shop://hidden/{id}"},"argument":{"name":"id","value":""}`, http.StatusBadRequest)
		}, []string{"completion/complete refused insufficient_scope 0 0"}},
	} {
		if diff := cmp.Diff(tt.want, outcomesIn(t, g, tt.send)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", tt.name, diff)
		}
	}
	if lines := gatewaytest.MetricLines(g, "drawbridge_tool_calls_total", `tool="purge"`, `outcome="insufficient_scope"`, "} 1"); len(lines) != 1 {
		t.Errorf("counted: %q", gatewaytest.MetricLines(g, "drawbridge_tool_calls_total"))
	}
}
