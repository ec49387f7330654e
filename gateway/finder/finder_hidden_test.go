package finder

import (
	"slices"
	"testing"
)

// TestHiddenWords checks that the hits of a caller do not depend on the words of tools that it may not find: a word
// that only these have counts as unknown, so that its spelling is corrected, or it is taken for a name.
func TestHiddenWords(t *testing.T) {
	visible := []Tool{
		{Name: "list_orders", Method: "GET", Path: "/orders", Summary: "List orders"},
		{Name: "search_customers", Method: "GET", Path: "/customers", Summary: "Search customers"},
		{Name: "merge_branches", Method: "POST", Path: "/merges", Summary: "Merge branches"},
	}
	hidden := Tool{Name: "plan_layoffs", Method: "POST", Path: "/layoffs", Summary: "Plan Layoffs at Xylon, ordr, mergr and custoners"}
	with, without := New(append(slices.Clone(visible), hidden), nil), New(visible, nil)
	found := func(x *Index, text string) (names []string) {
		for _, hit := range x.Search(Query{Text: text, Limit: 10, Allowed: func(tool int) bool { return tool < len(visible) }}).Hits {
			names = append(names, visible[hit.Tool].Name)
		}
		slices.Sort(names)
		return names
	}
	for _, text := range []string{"ordr", "mergr", "custoners", "the Layoffs", "what of Xylon", "orders of Xylon", "layoffs", "plan the layoffs", "Orders Layoffs ordr Xylon"} {
		if got, want := found(with, text), found(without, text); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, and without the hidden tool %q", text, got, want)
		}
	}
}
