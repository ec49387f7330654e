package resource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

const resourceRules = `  - {match: {method: GET}, set: {resource: true}}
  - {match: {operation: limited}, set: {condition: "tool.name == 'never'"}}
`

// TestResourceAuthorization holds that who may not call an operation may not read it either, and sees nothing of it where
// tools are hidden.
func TestResourceAuthorization(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
		cfg := fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i)) + resourceRules
		if hidden {
			cfg = strings.Replace(cfg, "default_scopes", "hide_unauthorized: true\n  default_scopes", 1)
		}
		g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge", "limited"), cfg, service.URL)
		for _, revision := range gatewaytest.Eras {
			c := gatewaytest.NewClient(t, g.Handler(), revision, i.Token(t, nil))
			if w := c.Read("drawbridge://shop/list"); w.Code != 200 || !strings.Contains(w.Body.String(), `"text":"{\"done\":true}"`) {
				t.Errorf("%s: list = %d %s", revision, w.Code, w.Body)
			}
			service.Taken()
			w := c.Read("drawbridge://shop/purge")
			unknown := strings.ReplaceAll(c.Read("drawbridge://shop/nothing").Body.String(), "nothing", "purge")
			switch challenge := w.Header().Get("WWW-Authenticate"); {
			case hidden && w.Body.String() != unknown:
				t.Errorf("%s: a hidden resource answers %s, one that does not exist %s", revision, w.Body, unknown)
			case !hidden && (w.Code != 403 || !strings.Contains(challenge, `error="insufficient_scope"`) || !strings.Contains(challenge, "orders:admin") ||
				!strings.Contains(w.Body.String(), "insufficient scope for this resource")):
				t.Errorf("%s: purge = %d %s %s", revision, w.Code, challenge, w.Body)
			}
			if w := c.Read("drawbridge://shop/limited"); !strings.Contains(w.Body.String(), "policy does not permit") {
				t.Errorf("%s: a read that the condition does not allow = %d %s", revision, w.Code, w.Body)
			}
			if sent := service.Taken(); len(sent) > 0 {
				t.Errorf("%s: %d requests reached the service", revision, len(sent))
			}
			list := c.Send("resources/list", "", "").Body.String()
			if seen := strings.Contains(list, "drawbridge://shop/purge"); seen == hidden || !strings.Contains(list, "drawbridge://shop/list") {
				t.Errorf("%s, hidden %t: %s", revision, hidden, list)
			}
			if w := gatewaytest.NewClient(t, g.Handler(), revision, "").Read("drawbridge://shop/list"); w.Code != 401 {
				t.Errorf("%s: without a token = %d %s", revision, w.Code, w.Body)
			}
		}
	}
}

// TestResourceBatch holds that a batch with a read that is not allowed is refused as a whole (Z3).
func TestResourceBatch(t *testing.T) {
	i, service := gatewaytest.NewIDP(t), gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "purge"), fmt.Sprintf(gatewaytest.ProtectedConfig, gatewaytest.Issuers(i))+resourceRules[:strings.Index(resourceRules, "\n")+1], service.URL)
	c := gatewaytest.NewClient(t, g.Handler(), "2025-03-26", i.Token(t, nil))
	c.Send("tools/list", "", "")
	header := c.Header.Clone()
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "application/json, text/event-stream")
	header.Set("Mcp-Session-Id", c.Session)
	service.Taken()
	w := gatewaytest.Post(g.Handler(), header, `[{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"drawbridge://shop/list"}},`+
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"drawbridge://shop/purge"}}]`)
	if w.Code != 403 || len(service.Taken()) > 0 {
		t.Errorf("a batch with a read that is not allowed = %d %s", w.Code, w.Body)
	}
}

const oddResources = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /a/{order}: {get: {operationId: a, parameters: [{name: order, in: path, required: true, schema: {type: string}}], responses: {"200": {description: ok}}}}
  /b: {get: {operationId: b, parameters: [{name: X-Who, in: header, required: true, schema: {type: string}}], responses: {"200": {description: ok}}}}
  /c: {get: {operationId: c, responses: {"200": {description: ok}}}}
  /d: {get: {operationId: d, responses: {"200": {description: ok}}}}
  /e: {post: {operationId: e, responses: {"200": {description: ok}}}}
  /f: {get: {operationId: f, x-mcp-resource: {uri: "shop:{of}"}, responses: {"200": {description: ok}}}}
  /g: {get: {operationId: g, x-mcp-resource: true, responses: {"200": {description: ok}}}}
  /h: {get: {operationId: h, x-mcp-resource: true, responses: {"200": {description: ok}}}}
`

// TestUnusableResources holds that what can't be a resource is told with its place, and serves on as a tool.
func TestUnusableResources(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	c := gatewaytest.Configure(t, dir, oddResources, `apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true}]
rules:
  - {match: {path: "/**"}, set: {timeout: 1s}}
  - {match: {operation: [a, e]}, set: {resource: {uri: "shop:a/{orders}"}}}
  - {match: {operation: b}, set: {resource: true}}
  - {match: {operation: [c, d]}, set: {resource: {uri: "shop:c"}}}
  - {match: {operation: h}, set: {resource: false}}
`, "http://127.0.0.1:1")
	g, err := gateway.New(gateway.Options{Config: c, Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	report, _ := g.Report("shop")
	var problems, logged []string
	for _, p := range report.Problems {
		problems = append(problems, fmt.Sprintf("%d %s %d %s", p.Place.Line, p.Code, p.Operations, p.Message))
	}
	want := []string{
		`4 resource 1 rules[1].set.resource: the URI has the variable "orders", which is no argument of the operation; did you mean "order"?`,
		`5 resource 1 rules[2].set.resource: the argument "X-Who" is required (header), and no variable of the URI stands for it`,
		`7 resource 1 rules[3].set.resource: the URI is that of GET /c already`,
		`8 resource 1 rules[1].set.resource: only operations with the method GET can be read, and this one has POST`,
		`9 resource 1 x-mcp-resource: the URI has the variable "of", which is no argument of the operation`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	for line := range strings.Lines(log.String()) {
		var record struct{ Error, Path string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		logged = append(logged, record.Path+" "+strings.TrimPrefix(record.Error, dir+"/"))
	}
	want = []string{
		`/a/{order} drawbridge.yaml:4:50: rules[1].set.resource: the URI has the variable "orders", which is no argument of the operation; did you mean "order"?`,
		`/b drawbridge.yaml:5:45: rules[2].set.resource: the argument "X-Who" is required (header), and no variable of the URI stands for it`,
		`/d drawbridge.yaml:6:50: rules[3].set.resource: the URI is that of GET /c already`,
		`/e drawbridge.yaml:4:50: rules[1].set.resource: only operations with the method GET can be read, and this one has POST`,
		`/f x-mcp-resource: the URI has the variable "of", which is no argument of the operation`,
	}
	if diff := cmp.Diff(want, logged); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	var uris []string
	for _, o := range report.Operations {
		if o.Resource != "" {
			uris = append(uris, o.Tool+" "+o.Resource)
		}
	}
	if diff := cmp.Diff([]string{"c shop:c", "g drawbridge://shop/g"}, uris); diff != "" {
		t.Errorf("resources in the report (-want +got):\n%s", diff)
	}
	if n := len(g.Plans()); n != 8 {
		t.Errorf("%d tools, want all 8", n)
	}
	_, answer := gatewaytest.Ask(t, g.Handler(), "", "resources/list", "", "")
	for _, uri := range []string{`"shop:c"`, `"drawbridge://shop/g"`} {
		if !strings.Contains(string(answer), `"uri":`+uri) {
			t.Errorf("no %s in %s", uri, answer)
		}
	}
	if strings.Count(string(answer), `"uri":`) != 2 {
		t.Errorf("resources: %s", answer)
	}
}

// TestResourceConsent holds that a read of what asks for consent asks, and that the answer is good for that resource.
func TestResourceConsent(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, gatewaytest.Document("Shop", "list", "other"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\n"+
		"rules: [{match: {method: GET}, set: {resource: true, confirm: true}}]\n", service.URL)
	read := func(uri, retry string) string {
		return gatewaytest.Post(g.Handler(), http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"resources/read"}, "Mcp-Name": {uri},
		}, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q,%s"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`, uri, retry)).Body.String()
	}
	var asked struct {
		Result struct{ ResultType, RequestState string }
	}
	if body := read("drawbridge://shop/list", ""); json.Unmarshal([]byte(body), &asked) != nil || asked.Result.ResultType != "input_required" {
		t.Fatal(body)
	}
	answer := fmt.Sprintf(`"requestState":%q,"inputResponses":{"confirm":{"action":"accept","content":{"go_ahead":true}}},`, asked.Result.RequestState)
	if body := read("drawbridge://shop/other", answer); strings.Contains(body, `"contents"`) {
		t.Errorf("the consent was good for another resource: %s", body)
	}
	if len(service.Taken()) > 0 {
		t.Error("a request was sent without consent")
	}
	if body := read("drawbridge://shop/list", answer); !strings.Contains(body, `"contents"`) {
		t.Error(body)
	}
	for _, revision := range gatewaytest.Eras {
		w := gatewaytest.NewClient(t, g.Handler(), revision, "").Read("drawbridge://shop/list")
		status, code, text := 200, `"code":-32600`, "needs the user's consent"
		if revision == "2026-07-28" {
			status, code, text = 400, `"code":-32021`, `"requiredCapabilities":{"elicitation"`
		}
		if w.Code != status || !strings.Contains(w.Body.String(), code) || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%s: %d %s", revision, w.Code, w.Body)
		}
	}
}
