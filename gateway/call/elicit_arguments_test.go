package call_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/gateway/admin"
	"drawbridge/test/gatewaytest"
)

// TestUnusableInputs holds that what can't be asked is among the problems of the API, for rules and for documents, whose
// texts hold nothing unseen.
func TestUnusableInputs(t *testing.T) {
	service := httptest.NewServer(http.NotFoundHandler())
	defer service.Close()
	g := gatewaytest.Start(t, `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /a: {get: {operationId: a, parameters: [&p {name: name, in: query, schema: {type: string}}], x-mcp-inputs: [{key: k, arguments: [nam]}], responses: {"200": {description: ok}}}}
  /b: {get: {operationId: b, parameters: [*p], x-mcp-inputs: [{key: k, kind: url, message: Go, url: "https://evil.example"}], responses: {"200": {description: ok}}}}
  /c: {get: {operationId: c, parameters: [*p], x-mcp-inputs: [{key: k, kind: roots, bind: {name: /roots}}], responses: {"200": {description: ok}}}}
  /d: {get: {operationId: d, parameters: [*p], x-mcp-inputs: [{key: k, no_secrets: true, arguments: [name]}], responses: {"200": {description: ok}}}}
  /e: {get: {operationId: e, parameters: [*p], x-mcp-inputs: [{key: k, schema: {type: object, properties: {name: {type: string, title: "a\u202eb"}}}}], responses: {"200": {description: ok}}}}
  /f: {get: {operationId: f, parameters: [*p], x-mcp-inputs: [{key: k, arguments: [name]}], responses: {"200": {description: ok}}}}
`, `apis: [{name: shop, spec: $SPEC, base_url: $BASE, trust_extensions: true}]
rules: [{match: {operation: f}, set: {inputs: [{key: k, arguments: [nome]}]}}]
`, service.URL)
	report, ok := g.Report("shop")
	if !ok {
		t.Fatal("no report")
	}
	var got []string
	for _, p := range report.Problems {
		got = append(got, p.Code+" "+p.Message)
	}
	want := []string{
		`extension x-mcp-inputs[0].arguments[0]: there is no argument "nam"; did you mean "name"?`,
		`extension x-mcp-inputs[0].kind: is url: only the configuration can send users to a page`,
		`extension x-mcp-inputs[0].kind: roots needs tools.deprecated_inputs: true, because the protocol has deprecated it`,
		`extension x-mcp-inputs[0].no_secrets: can't be set by a document`,
		`extension x-mcp-inputs[0].schema: holds characters that can't be seen`,
		`inputs rules[0].set.inputs[0].arguments[0]: there is no argument "nome"; did you mean "name"?`,
	}
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%v %s", err, text)
	}
	for _, op := range report.Operations {
		if op.Fate != admin.Exposed {
			t.Errorf("%s is %v", op.ID, op.Fate)
		}
	}
}
