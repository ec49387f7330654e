package endpoint

import (
	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
)

// visibility determines the tools that a caller may call, and so sees if the others are hidden (Z6). It is immutable.
type visibility struct {
	views *auth.Views
	sets  map[*catalog.Tool][]int // indices of the sets in views that permit a tool
	open  map[*catalog.Tool]bool  // tools that need no scopes
}

// newVisibility returns the visibility of tools.
func newVisibility(guard *auth.Guard, c *catalog.Catalog, tools map[string]call.Tool) *visibility {
	v := &visibility{sets: map[*catalog.Tool][]int{}, open: map[*catalog.Tool]bool{}}
	var all [][]string
	for _, t := range c.All() {
		if tools[t.Name] == nil {
			continue
		}
		sets, needed := tools[t.Name].Scopes()
		if !needed {
			v.open[t] = true
		}
		for _, set := range sets {
			v.sets[t] = append(v.sets[t], len(all))
			all = append(all, set)
		}
	}
	v.views = guard.Views(all)
	return v
}

// has reports whether callers with the permissions w may call a tool.
func (v *visibility) has(w auth.View, t *catalog.Tool) bool {
	for _, n := range v.sets[t] {
		if w.Has(n) {
			return true
		}
	}
	return v.open[t]
}
