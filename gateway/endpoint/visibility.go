package endpoint

import (
	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
)

// visibility determines the tools that a caller may call, and so sees if the others are hidden (Z6). It is immutable.
type visibility struct {
	views *auth.Views
	sets  map[*catalog.Tool][]int // indices of the sets in views that permit a tool
}

// newVisibility returns the visibility of the tools among plans.
func newVisibility(guard *auth.Guard, c *catalog.Catalog, plans map[string]*plan.Plan) *visibility {
	v := &visibility{sets: map[*catalog.Tool][]int{}}
	var all [][]string
	for _, t := range c.All() {
		if plans[t.Name] == nil {
			continue
		}
		for _, set := range plans[t.Name].Scopes {
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
	return false
}
