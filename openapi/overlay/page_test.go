package overlay

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"drawbridge/openapi/tree"
)

// TestPage applies the overlay that docs/openapi-support.md shows.
func TestPage(t *testing.T) {
	const name = "docs/openapi-support.md"
	page, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "```yaml\noverlay:")
	text, _, closed := strings.Cut("overlay:"+text, "```")
	if !found || !closed {
		t.Fatalf("%s shows no overlay", name)
	}
	document := txtar.File{Name: "openapi.json", Data: []byte(`{"openapi": "3.1.0", "info": {"title": "Orders", "version": "1"}, "paths": {
		"/orders": {"get": {"summary": "old", "responses": {}}, "post": {"x-internal": true, "responses": {}}}}}`)}
	result, report, err := apply(document, []File{{Location: "overlay.yaml", Data: []byte(text)}}, tree.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if strings.Contains(string(result), `"old"`) || strings.Contains(string(result), "x-internal") || !strings.Contains(string(result), "/orders") {
		t.Errorf("the overlay of %s results in %s\n%s", name, result, report)
	}
}
