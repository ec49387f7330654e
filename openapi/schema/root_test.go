package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"drawbridge/openapi/tree"
)

// TestRootShared: operations that have one body share its schema, and each is told what it lacks.
func TestRootShared(t *testing.T) {
	var text strings.Builder
	text.WriteString("openapi: 3.0.3\ncomponents:\n  schemas:\n    Case: {$ref: '#/components/schemas/Big'}\n    Other: {$ref: '#/components/schemas/Big'}\n" +
		"    Said: {$ref: '#/components/schemas/Big', description: Said beside it.}\n    Big:\n      type: object\n      properties:\n")
	for n := range 20 {
		fmt.Fprintf(&text, "        p%d: {type: string, description: Much is said of it.}\n", n)
	}
	c, first := document(t, text.String(), Limits{MaxBytes: 700}, nil)
	schemas := c.set.Root().Get("components").Get("schemas")
	var warnings []string
	root := func(n *tree.Node, rename map[string]string) []byte {
		t.Helper()
		made, err := c.For(n, func(w tree.Warning) { warnings = append(warnings, fmt.Sprintf("%d %s", w.Position.Line, w.Code)) }).Root(n, rename)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	one, other := root(first, nil), root(schemas.Get("Other"), nil)
	if &one[0] != &other[0] {
		t.Errorf("two schemas, want one:\n%s\n%s", one, other)
	}
	if said := root(schemas.Get("Said"), nil); &said[0] == &one[0] {
		t.Error("what is said beside a reference is gone")
	}
	if renamed := root(first, map[string]string{"p0": "q"}); !strings.Contains(string(renamed), `"q":`) || strings.Contains(string(one), `"q":`) {
		t.Errorf("with another name:\n%s\nand without:\n%s", renamed, one)
	}
	if diff := cmp.Diff([]string{"4 schema-size", "5 schema-size", "6 schema-size", "4 schema-size"}, warnings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
