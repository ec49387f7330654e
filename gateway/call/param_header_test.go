package call_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"drawbridge/gateway/catalog"
	"drawbridge/test/gatewaytest"
)

const paramHeaderDocument = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders:
    get:
      operationId: orders
      parameters:
        - {name: region, in: query, required: true, schema: {type: string, enum: [eu, us]}}
        - {name: page, in: query, schema: {type: integer}}
        - {name: price, in: query, schema: {type: number}}
      responses: {"200": {description: ok}}
`

const paramHeaderConfig = `apis: [{name: shop, spec: $SPEC, base_url: $BASE}]
rules: [{match: {api: shop}, set: {param_headers: {region: Region, page: Page, price: Price, missing: Missing}}}]
`

// TestParamHeaders holds that modern clients are told what to repeat, and that a call is made only if they did.
func TestParamHeaders(t *testing.T) {
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, paramHeaderDocument, paramHeaderConfig, service.URL)
	ask := func(version, method, params string, more http.Header) (int, string) {
		t.Helper()
		h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {version}, "Mcp-Method": {method}}
		for name, values := range more {
			h[name] = values
		}
		w := gatewaytest.Post(g.Handler(), h, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`, method, params, version))
		return w.Code, w.Body.String()
	}
	_, list := ask("2026-07-28", "tools/list", "", nil)
	for _, want := range []string{`"region":{"x-mcp-header":"Region","type":"string"`, `"page":{"x-mcp-header":"Page","type":"integer"`, `"price":{"type":"number"`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s: %s", want, list)
		}
	}
	for _, c := range []struct {
		arguments string
		headers   http.Header
		status    int
		text      string
	}{
		{`{"region":"eu"}`, http.Header{"Mcp-Param-Region": {"eu"}}, 200, `"done"`},
		{`{"region":"eu","page":7,"price":1}`, http.Header{"Mcp-Param-Region": {"=?base64?ZXU=?="}, "Mcp-Param-Page": {"7"}}, 200, `"done"`},
		{`{"region":"eu"}`, nil, 400, "header Mcp-Param-Region is missing"},
		{`{"region":"eu","page":7}`, http.Header{"Mcp-Param-Region": {"eu"}, "Mcp-Param-Page": {"8"}}, 400, `header Mcp-Param-Page is \"8\" but the body says 7`},
		{`{"region":["eu"]}`, nil, 200, "/region"}, // the schema refuses it
	} {
		h := http.Header{"Mcp-Name": {"orders"}}
		for name, values := range c.headers {
			h[name] = values
		}
		status, body := ask("2026-07-28", "tools/call", `"name":"orders","arguments":`+c.arguments+`,`, h)
		text := strings.ReplaceAll(body, `\"`, `"`) // however deep
		if status != c.status || !strings.Contains(text, strings.ReplaceAll(c.text, `\"`, `"`)) {
			t.Errorf("%s with %v: %d %s", c.arguments, c.headers, status, body)
		}
		if sent := len(service.Taken()); (c.text == `"done"`) != (sent == 1) {
			t.Errorf("%s with %v: %d requests", c.arguments, c.headers, sent)
		}
	}
	// Who has no headers is not asked for them.
	if result, err := gatewaytest.CallAsOperator(t.Context(), g, "orders", []byte(`{"region":"eu"}`)); err != nil || !strings.Contains(string(result), "done") {
		t.Errorf("%s, %v", result, err)
	}
}

// TestParamHeadersOfFormerNames: a rule that names an argument as the release before did has its effect, and is reported (pains row 131).
func TestParamHeadersOfFormerNames(t *testing.T) {
	document := strings.NewReplacer("name: region", "name: región", "name: page", "name: página").Replace(paramHeaderDocument)
	rules := strings.Replace(paramHeaderConfig, "region: Region, page: Page, price: Price, missing: Missing", "regi_n: Region, p_gina: Page, pagina: Pagina", 1)
	g := gatewaytest.Start(t, document, rules, gatewaytest.NewRecordingService(t).URL)
	tool := g.Plans()[0].Tool
	want := []catalog.ParamHeader{{Argument: "pagina", Name: "Pagina"}, {Argument: "region", Name: "Region"}}
	if !slices.Equal(tool.ParamHeaders, want) {
		t.Errorf("repeated are %v, want %v", tool.ParamHeaders, want)
	}
	report := gatewaytest.Do(g.Admin(), http.MethodGet, "/apis/shop", nil).Body.String()
	for _, want := range []string{
		`param_headers.regi_n: the argument is named \"region\" now; the next release will not know the former name`,
		`param_headers.p_gina: there is no argument \"p_gina\"`,
	} {
		if !strings.Contains(report, want) {
			t.Errorf("%q is not told: %s", want, report)
		}
	}
}
