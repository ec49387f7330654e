package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestResourceOrder holds that a URI without variables goes before templates, and the first template before others.
func TestResourceOrder(t *testing.T) {
	const api = `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /x/{a}: {get: {operationId: first, parameters: [{name: a, in: path, required: true, schema: {type: string}}], responses: {"200": {description: ok}}}}
  /x/y-{b}: {get: {operationId: second, parameters: [{name: b, in: path, required: true, schema: {type: string}}], responses: {"200": {description: ok}}}}
  /x/fixed: {get: {operationId: third, responses: {"200": {description: ok}}}}
`
	service := gatewaytest.NewRecordingService(t)
	g := gatewaytest.Start(t, api, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nrules: [{match: {method: GET}, set: {resource: true}}]\nserver: {page_size: 1}\n", service.URL)
	find := g.Current().Main.Resources.Find
	for uri, want := range map[string]string{
		"drawbridge://shop/x/fixed": "third", "drawbridge://shop/x/y-1": "first", "drawbridge://shop/x/z": "first",
	} {
		if p, _ := find(uri); p == nil || p.Tool.Name != want {
			t.Errorf("%s: %+v, want %s", uri, p, want)
		}
	}
	// Pages have cursors of their own.
	var first, second struct {
		Result struct {
			ResourceTemplates []struct{ Name string }
			NextCursor        string
		}
	}
	_, answer := gatewaytest.Ask(t, g.Handler(), "", "resources/templates/list", "", "")
	if err := json.Unmarshal(answer, &first); err != nil || first.Result.NextCursor == "" || len(first.Result.ResourceTemplates) != 1 {
		t.Fatalf("%v: %s", err, answer)
	}
	cursor := fmt.Sprintf(`"cursor":%q`, first.Result.NextCursor)
	_, answer = gatewaytest.Ask(t, g.Handler(), "", "resources/templates/list", "", cursor)
	if err := json.Unmarshal(answer, &second); err != nil || second.Result.NextCursor != "" || second.Result.ResourceTemplates[0].Name != "second" {
		t.Errorf("%v: %s", err, answer)
	}
	if status, answer := gatewaytest.Ask(t, g.Handler(), "", "resources/list", "", cursor); status != http.StatusBadRequest {
		t.Errorf("a cursor of another list = %d %s", status, answer)
	}
}
