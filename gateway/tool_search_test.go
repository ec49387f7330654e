package gateway_test

import (
	"fmt"
	"testing"

	"drawbridge/test/gatewaytest"
)

// TestAutoPresentation: the list changes to search above its budget, and back below 80 % of it.
func TestAutoPresentation(t *testing.T) {
	document := func(operations int) string {
		names := make([]string, operations)
		for i := range names {
			names[i] = fmt.Sprintf("operation%d", i)
		}
		return gatewaytest.Document("Shop", names...)
	}
	const cfg = "apis: [{name: shop, spec: api.yaml, base_url: 'http://127.0.0.1:1'}]\ntools: {list_budget: 1k}\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg, "api.yaml": document(1)})
	r.Served()
	each := r.Current().Catalog.All()[0].Tokens()
	within, above, near, below := 1000/each, 1000/each+1, 800/each+1, 800/each
	for _, tt := range []struct {
		tools  int
		search bool
	}{
		{near, false}, {within, false}, {above, true}, {within, true}, {near, true}, {below, false}, {within, false},
	} {
		r.Write(map[string]string{"api.yaml": document(tt.tools)})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Eventually("the document is read", func() bool { return len(r.Tools()) == tt.tools })
		e := r.Current().Main
		if e.Presentation.Search != tt.search {
			t.Errorf("%d tools: %v, because %s; want search: %v", tt.tools, e.Presentation, e.Presentation.Reason, tt.search)
		}
	}
}

// TestListLimit: the list changes to search above its number of tools, and back below 80 % of it; endpoints have their own number, and
// 0 is none (pains row 173).
func TestListLimit(t *testing.T) {
	document := func(operations int) string {
		names := make([]string, operations)
		for i := range names {
			names[i] = fmt.Sprintf("operation%d", i)
		}
		return gatewaytest.Document("Shop", names...)
	}
	const cfg = "apis: [{name: shop, spec: api.yaml, base_url: 'http://127.0.0.1:1'}]\n" +
		"endpoints: [{name: any, match: {api: shop}, list_limit: 0}, {name: few, match: {api: shop}, list_limit: 10}, {name: all, match: {api: shop}, presentation: all}]\n"
	r := gatewaytest.Run(t, map[string]string{"drawbridge.yaml": cfg, "api.yaml": document(1)})
	r.Served()
	for _, tt := range []struct {
		tools int
		main  bool
		few   bool
	}{
		{10, false, false}, {11, false, true}, {8, false, false}, {100, false, true}, {101, true, true}, {81, true, true}, {80, false, true}, {100, false, true},
	} {
		r.Write(map[string]string{"api.yaml": document(tt.tools)})
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Eventually("the document is read", func() bool { return len(r.Tools()) == tt.tools })
		table := r.Current()
		for name, want := range map[string]bool{"": tt.main, "any": false, "few": tt.few, "all": false} {
			e := table.Main
			if name != "" {
				e = table.Named[name]
			}
			if e.Presentation.Search != want {
				t.Errorf("%d tools, endpoint %q: %v, because %s; want search: %v", tt.tools, name, e.Presentation, e.Presentation.Reason, want)
			}
		}
	}
}
