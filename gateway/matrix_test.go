package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestBatchesOfOthers: what a batch asks of a prompt or a resource is decided on with the rest of it, too.
func TestBatchesOfOthers(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	cfg := strings.Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)), `set: {scopes: ["orders:admin"]}`, `set: {scopes: ["orders:admin"], resource: {tool: true, uri: "shop://purged/{id}", poll: 1m}}`, 1) +
		"prompts: [{name: clear, arguments: [{name: why, required: true}], messages: [{text: '{{why}}'}, {tool: purge, arguments: {id: '{{why}}'}}]}]\n"
	doc := strings.Replace(gatewaytest.Document("Shop", "list", "purge"), "/purge: {get: {operationId: purge,",
		"'/purge/{id}': {get: {operationId: purge, parameters: [{name: id, in: path, required: true, schema: {type: string}}],", 1)
	g := gatewaytest.Start(t, doc, cfg, service.URL)
	if faults := g.Current().PromptFaults; len(faults) > 0 {
		t.Fatal(faults)
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`
	for _, tt := range []struct{ name, other string }{
		{"a prompt", `"prompts/get","params":{"name":"clear","arguments":{"why":"x"}}`},
		{"values for a prompt", `"completion/complete","params":{"ref":{"type":"ref/prompt","name":"clear"},"argument":{"name":"why","value":""}}`},
		{"values of a template", `"completion/complete","params":{"ref":{"type":"ref/resource","uri":"shop://purged/{id}"},"argument":{"name":"id","value":""}}`},
		{"a resource", `"resources/read","params":{"uri":"shop://purged/7"}`},
		{"a subscription", `"resources/subscribe","params":{"uri":"shop://purged/7"}`}, // the last, since it is looked at from then on
	} {
		for _, as := range []struct {
			scope string
			want  int
		}{{"mcp:tools", http.StatusForbidden}, {"orders:all", http.StatusOK}} {
			c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", i.Token(t, map[string]any{"scope": as.scope}))
			c.Send("tools/list", "", "")
			header := c.Header.Clone()
			header.Set("Content-Type", "application/json")
			header.Set("Accept", "application/json, text/event-stream")
			header.Set("Mcp-Session-Id", c.Session)
			w := gatewaytest.Post(g.Handler(), header, "["+list+`,{"jsonrpc":"2.0","id":2,"method":`+tt.other+"}]")
			_, challenge, _ := strings.Cut(w.Header().Get("WWW-Authenticate"), ` scope="`)
			challenge, _, _ = strings.Cut(challenge, `"`)
			reached := len(service.Taken())
			switch {
			case w.Code != as.want, as.want == http.StatusOK && (reached == 0 || strings.Contains(w.Body.String(), `"error"`)),
				as.want == http.StatusForbidden && (reached != 0 || !gatewaytest.SameScopes(challenge, "mcp:tools orders:admin")):
				t.Errorf("%s with %q = %d, %d requests, %q: %s", tt.name, as.scope, w.Code, reached, challenge, w.Body)
			}
		}
	}
	g.Subscriptions().End()
}
