package finder

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestValues reads the values of enumerations, also of those behind a reference and in prose.
func TestValues(t *testing.T) {
	r := schemaReader{}
	r.read([]byte(archive(t, "values.txtar")["schema"]), argumentDepth)
	for _, c := range []struct {
		what string
		got  []string
		want []string
	}{
		{"values", r.values, []string{"draft", "notebook", "my-file", "FAILED", "CANCELLED"}},
		{"kinds", r.kinds, []string{"notebook", "my-file", "FAILED", "CANCELLED"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

// TestKindsOfAPath finds a tool by the kinds that another tool of its path names.
func TestKindsOfAPath(t *testing.T) {
	tools := []Tool{
		{Name: "get_contents", API: "lab", Method: "GET", Path: "/contents/{path}", Summary: "Get contents"},
		{Name: "put_contents", API: "lab", Method: "PUT", Path: "/contents/{path}", Summary: "Save contents", Kinds: []string{"notebook"}},
		{Name: "get_kernel", API: "lab", Method: "GET", Path: "/kernels/{id}", Summary: "Get a kernel"},
		{Name: "other_contents", API: "other", Method: "GET", Path: "/contents/{path}", Summary: "Get contents"},
	}
	shareKinds(tools)
	if hits := New(tools, nil).Search(Query{Text: "get a notebook", Limit: 4}).Hits; len(hits) == 0 || tools[hits[0].Tool].Name != "get_contents" {
		t.Errorf("the hits are %v", hits)
	}
	if tools[2].Kinds != nil || tools[3].Kinds != nil {
		t.Errorf("tools of other paths and APIs have kinds: %v", tools)
	}
}

// FuzzValues reads hostile schemas: nothing is read beyond the limit.
func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"properties":{"type":{"description":"one of 'a', 'b'"}}}`))
	f.Fuzz(func(t *testing.T, schema []byte) {
		if !json.Valid(schema) {
			return
		}
		r := schemaReader{}
		r.read(schema, argumentDepth)
		if len(r.values) > maxNames || len(r.kinds) > len(r.values) {
			t.Errorf("%d values, %d kinds", len(r.values), len(r.kinds))
		}
	})
}
