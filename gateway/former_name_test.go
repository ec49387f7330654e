package gateway_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"drawbridge/config"
	"drawbridge/test/gatewaytest"
)

// flows returns a document as FastAPI makes it, with the function create_flow of each version.
func flows(versions ...string) string {
	text := "openapi: 3.1.0\ninfo: {title: Flows, version: '1'}\nservers: [{url: 'http://127.0.0.1:1'}]\npaths:\n"
	for _, v := range versions {
		text += fmt.Sprintf("  /%s/flows: {post: {operationId: create_flow_%s_flows_post, responses: {'200': {description: ok}}}}\n", v, v)
	}
	return text
}

// TestPublishedNames: a published name is kept when another operation comes, also by a reload and after a restart, and by tools.lock
// alone.
func TestPublishedNames(t *testing.T) {
	state := t.TempDir()
	const api = "apis: [{spec: flows.yaml, name: flows}]\n"
	cfg := "server: {state_dir: " + state + "}\ntools: {names: short}\n" + api
	first := started(t, cfg)
	first.Write(map[string]string{"flows.yaml": flows("v1")})
	if err := first.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := first.Tools(); !slices.Equal(got, []string{"create_flow"}) {
		t.Fatalf("tools = %q", got)
	}
	want := []string{"create_flow", "create_flow_v2"}
	first.Write(map[string]string{"flows.yaml": flows("v2", "v1")})
	if err := first.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := first.Tools(); !slices.Equal(got, want) {
		t.Errorf("after a reload: tools = %q, want %q", got, want)
	}
	approved := first.Lock()
	first.end()
	if files, err := filepath.Glob(filepath.Join(state, "*.names")); err != nil || len(files) != 1 {
		t.Errorf("files = %q, %v", files, err)
	}

	next := func(cfg, lock string) []string {
		p := started(t, cfg)
		p.Write(map[string]string{"flows.yaml": flows("v2", "v1"), "approved.lock": lock, "drawbridge.yaml": cfg})
		if err := p.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		return p.Tools()
	}
	if got := next(cfg, ""); !slices.Equal(got, want) {
		t.Errorf("after a restart: tools = %q, want %q", got, want)
	}
	if got, fresh := next("tools: {names: short}\n"+api, ""), []string{"create_flow_v1", "create_flow_v2"}; !slices.Equal(got, fresh) {
		t.Errorf("without a state: tools = %q, want %q", got, fresh)
	}
	p := started(t, "tools: {names: short}\n"+api)
	p.Write(map[string]string{"flows.yaml": flows("v2", "v1"), "approved.lock": string(config.NewLock(approved.Tools()).Encode()), "drawbridge.yaml": "tools: {names: short, lock: approved.lock}\n" + api})
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := p.Tools(); !slices.Equal(got, want) {
		t.Errorf("with tools.lock: tools = %q, want %q", got, want)
	}
}

// TestFormerNames: a call by a former name needs what the tool needs, whether or not tools are hidden, and lists have the present name
// alone. Rules select by operationId.
func TestFormerNames(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	doc := strings.NewReplacer("operationId: purge", "operationId: purgeOrdersParams", "operationId: list", "operationId: listOrdersParams").Replace(gatewaytest.Document("Shop", "list", "purge"))
	for _, hidden := range []string{"false", "true"} {
		cfg := strings.NewReplacer("operation: purge", "operation: purgeOrdersParams", "default_scopes", "hide_unauthorized: "+hidden+"\n  default_scopes").
			Replace(fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))) + "tools: {names: short}\n"
		g := gatewaytest.Start(t, doc, cfg, service.URL)
		for _, revision := range gatewaytest.Eras {
			for scope, may := range map[string][]string{"mcp:tools": {"listOrders"}, "orders:admin": {"purgeOrders"}, "orders:all": {"listOrders", "purgeOrders"}} {
				c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, map[string]any{"scope": scope}))
				if got := gatewaytest.ToolNames(t, c.Send("tools/list", "", "").Body.Bytes()); hidden == "true" && !slices.Equal(got, may) || len(got) > 2 {
					t.Errorf("%s, %s: tools %q, want %q", revision, scope, got, may)
				}
				for _, name := range []string{"listOrders", "purgeOrders"} {
					for _, called := range []string{name, name + "Params"} {
						if w := c.Call(called); gatewaytest.Succeeded(w) != slices.Contains(may, name) {
							t.Errorf("%s, %s: call of %s = %d %s", revision, scope, called, w.Code, w.Body)
						}
					}
				}
			}
		}
	}
}
