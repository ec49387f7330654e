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
	dir := t.TempDir()
	description := filepath.Join(dir, "w.arazzo.yaml")
	if err := os.WriteFile(description, []byte(`arazzo: 1.0.1
info: {title: t, version: "1"}
sourceDescriptions: [{name: shop, url: api.yaml}]
workflows:
  - workflowId: copies
    steps: [{stepId: a, operationId: list, outputs: {all: $response.body}}]
    outputs:
      `+outputs.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := gatewaytest.Configure(t, dir, gatewaytest.Document("Shop", "list"), "apis: [{name: shop, spec: $SPEC, base_url: $BASE}]\nworkflows: ["+description+"]\n", service.URL)
	g, err := gateway.New(gateway.Options{Config: c, Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, body := gatewaytest.Modern(t, g.Handler(), "", "copies", "{}", "", true)
	if !strings.Contains(string(body), "the outputs of the workflow are larger than 16 MiB") {
		t.Errorf("%d bytes: %.300s", len(body), body)
	}
}
