package call_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"drawbridge/gateway"
	"drawbridge/openapi/jsonscan"
	"drawbridge/test/gatewaytest"
)

// projectedService answers with one order, whatever is asked, and counts the requests.
func projectedService(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/failing" {
			w.WriteHeader(http.StatusConflict)
		}
		fmt.Fprint(w, `{"id":9007199254740993,"price":1.10,"lines":[{"sku":"a","n":1},{"sku":"b","n":2}],"secret":"s"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

const projectedDocument = `
openapi: 3.1.0
info: {title: Shop, version: '1'}
paths:
  /orders: {get: &get {operationId: order, responses: {'200': &ok {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: integer}, price: {type: number}, lines: {type: array, items: {type: object, properties: {sku: {type: string}, n: {type: integer}}}}}}}}}}}}
  /asked: {get: {operationId: asked, parameters: [{name: q, in: query, schema: {type: string}}], responses: {'200': *ok}}}
  /failing: {get: {operationId: failing, responses: {'200': *ok}}}
`

const projectedRules = `apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true}]
rules:
  - {match: {method: GET}, set: {cache: {ttl: 1h}, sensitive_fields: [secret], resource: {tool: true}}}
  - {match: {operation: order}, set: {result: {select: "{id, skus: [.lines[].sku]}"}}}
  - {match: {operation: [asked, failing]}, set: {result: {max_items: 1, select_argument: true}}}
`

// TestProjectedDefinitions: the tool has the argument and the schema of what is left.
func TestProjectedDefinitions(t *testing.T) {
	for profile, skus := range map[string]string{
		"full":     `{"type":"array","items":{"type":["string","null"]}}`,
		"portable": `{"type":"array","items":{"description":"string or null"}}`,
	} {
		t.Run(profile, func(t *testing.T) {
			base, _ := projectedService(t)
			testProjectedDefinitions(t, gatewaytest.Start(t, projectedDocument, strings.Replace(projectedRules, ", trust", ", schema_profile: "+profile+", trust", 1), base), skus)
		})
	}
}

func testProjectedDefinitions(t *testing.T, g *gateway.Gateway, skus string) {
	t.Helper()
	_, answer := gatewaytest.Ask(t, g.Handler(), "", "tools/list", "", "")
	got := map[string]json.RawMessage{}
	for tool := range jsonscan.Elements(jsonscan.At(answer, "/result/tools")) {
		got[jsonscan.StringAt(tool, "/name")] = tool
	}
	for _, c := range []struct{ tool, pointer, want string }{
		{"order", "/outputSchema/properties/skus", skus},
		{"order", "/outputSchema/properties/lines", ""},
		{"order", "/inputSchema/properties/_select", ""},
		{"asked", "/inputSchema/properties/_select/type", `"string"`},
		{"asked", "/inputSchema/properties/q/type", `"string"`},
	} {
		if at := string(jsonscan.At(got[c.tool], c.pointer)); at != c.want {
			t.Errorf("%s%s: %s, want %s", c.tool, c.pointer, at, c.want)
		}
	}
}

// TestProjectedByRevision: the argument and the expression work in each revision, and through the tools of search mode.
func TestProjectedByRevision(t *testing.T) {
	base, _ := projectedService(t)
	g := gatewaytest.Start(t, projectedDocument, projectedRules+"tools: {presentation: search}\n", base)
	for _, revision := range gatewaytest.AllRevisions {
		c := gatewaytest.NewClient(t, g.Handler(), revision, "")
		for _, tt := range []struct{ tool, arguments, want string }{
			{"order", `{}`, `{"id":9007199254740993,"skus":["a","b"]}`},
			{"asked", `{"_select":"price,lines.n"}`, `{"price":1.10,"lines":[{"n":1}]}`},
			{"read_tool", `{"name":"asked","arguments":"{\"_select\":\"price,lines.n\"}"}`, `{"price":1.10,"lines":[{"n":1}]}`},
			{"read_tool", `{"name":"asked","arguments":{"_select":"price,lines.n"}}`, `{"price":1.10,"lines":[{"n":1}]}`},
			{"call_tool", `{"name":"order"}`, `{"id":9007199254740993,"skus":["a","b"]}`},
		} {
			if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", tt.tool, tt.arguments)); isError || !strings.HasPrefix(text, tt.want) {
				t.Errorf("%s: %s %s: %s, want %s", revision, tt.tool, tt.arguments, text, tt.want)
			}
		}
	}
}

// TestProjectionAndCache: the cache holds the whole answer, so that one entry serves all lists of fields, and resources are
// read whole.
func TestProjectionAndCache(t *testing.T) {
	base, requests := projectedService(t)
	g := gatewaytest.Start(t, projectedDocument, projectedRules, base)
	c := gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "")
	for _, tt := range []struct{ arguments, want string }{
		{`{"_select":"id"}`, `{"id":9007199254740993}`}, {`{"_select":"price"}`, `{"price":1.10}`},
		{`{}`, `{"id":9007199254740993,"price":1.10,"lines":[{"sku":"a","n":1}]}`},
		{`{"_select":"secret"}`, `{}`},
	} {
		if text, isError := gatewaytest.TextOf(t, c.Send("tools/call", "asked", tt.arguments)); isError || !strings.HasPrefix(text, tt.want) {
			t.Errorf("%s: %s, want %s", tt.arguments, text, tt.want)
		}
	}
	if w := c.Read("drawbridge://shop/asked"); !strings.Contains(w.Body.String(), `{\"sku\":\"b\",\"n\":2}`) || strings.Contains(w.Body.String(), "secret") {
		t.Errorf("the resource is not the whole answer: %s", w.Body)
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestProjectionLeavesErrors: the text of an error is the same, byte for byte, with a projection and without.
func TestProjectionLeavesErrors(t *testing.T) {
	base, _ := projectedService(t)
	call := func(rules, arguments string) string {
		g := gatewaytest.Start(t, projectedDocument, rules, base)
		text, isError := gatewaytest.TextOf(t, gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "").Send("tools/call", "failing", arguments))
		if !isError {
			t.Fatalf("no error: %s", text)
		}
		return text
	}
	plain := strings.Split(projectedRules, "  - {match: {operation: order}")[0]
	want := call(plain, `{}`)
	if got := call(projectedRules, `{"_select":"id"}`); got != want || !strings.Contains(got, `{"sku":"b","n":2}`) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestDocumentsProjectNothing: no extension of a document sets result, however much the document is trusted.
func TestDocumentsProjectNothing(t *testing.T) {
	base, _ := projectedService(t)
	document := strings.NewReplacer("operationId: order,", `operationId: order, x-mcp-result: {select: "1"}, x-result: {select: "1"}, x-mcp: {result: {select: "1"}},`).Replace(projectedDocument)
	g := gatewaytest.Start(t, document, "apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true}]\n", base)
	if text, isError := gatewaytest.TextOf(t, gatewaytest.NewClient(t, g.Handler(), gatewaytest.Eras[0], "").Send("tools/call", "order", `{}`)); isError || !strings.Contains(text, `"secret":"s"`) {
		t.Error(text)
	}
}
