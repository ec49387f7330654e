package workflow_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"drawbridge/gateway"
	"drawbridge/test/gatewaytest"
)

// TestOutputsOfOutputs holds that outputs which repeat a large answer are refused before they take the memory of all of them.
func TestOutputsOfOutputs(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"note":"`+strings.Repeat("x", 3<<20)+`"}`)
	}))
	defer service.Close()
	var outputs strings.Builder
	for _, name := range strings.Split("abcdefgh", "") {
		outputs.WriteString(name + ": $steps.a.outputs.all\n      ")
	}
	g := started(t, service.URL, gatewaytest.Document("Shop", "list"), `workflows:
  - workflowId: copies
    steps: [{stepId: a, operationId: list, outputs: {all: $response.body}}]
    outputs:
      `+outputs.String()+"\n", "")
	_, _, body := gatewaytest.Modern(t, g.Handler(), "", "copies", "{}", "", true)
	if !strings.Contains(body, "the outputs of the workflow are larger than 16 MiB") {
		t.Errorf("%d bytes: %.300s", len(body), body)
	}
}

// TestDeclinedIsNotRetried holds that a user who has declined a step is not asked again by its retry.
func TestDeclinedIsNotRetried(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			t.Error("a declined step is sent")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":7}`)
	}))
	defer service.Close()
	g := started(t, service.URL, `openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /orders: {get: {operationId: newest, responses: {"200": {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: integer}}}}}}}}}
  /orders/{id}: {put: {operationId: close, parameters: [{name: id, in: path, required: true, schema: {type: integer}}], responses: {"200": {description: ok}}}}
`, `workflows:
  - workflowId: closeNewest
    steps:
      - {stepId: find, operationId: newest, outputs: {id: "$response.body#/id"}}
      - {stepId: close, operationId: close, parameters: [{name: id, in: path, value: $steps.find.outputs.id}], onFailure: [{name: again, type: retry, retryLimit: 5}]}
`, "rules: [{match: {operation: close}, set: {confirm: true}}]\n")
	_, asked, body := gatewaytest.Modern(t, g.Handler(), "", "closeNewest", "{}", "", true)
	if asked["inputRequests"] == nil {
		t.Fatal(body)
	}
	retry := `"inputResponses":{"confirm":{"action":"decline"}},"requestState":` + string(asked["requestState"]) + ","
	_, result, body := gatewaytest.Modern(t, g.Handler(), "", "closeNewest", "{}", retry, true)
	if result["inputRequests"] != nil || !strings.Contains(body, "did not agree") {
		t.Errorf("after a refusal: %s", body)
	}
}

// started returns a gateway with a workflow of one API.
func started(t *testing.T, base, api, workflows, config string) *gateway.Gateway {
	t.Helper()
	dir := t.TempDir()
	description := filepath.Join(dir, "w.arazzo.yaml")
	text := "arazzo: 1.0.1\ninfo: {title: t, version: \"1\"}\nsourceDescriptions: [{name: shop, url: api.yaml}]\n" + workflows
	if err := os.WriteFile(description, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := gatewaytest.Configure(t, dir, api, "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nworkflows: ["+description+"]\n"+config, base)
	g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}
