package gateway

import (
	"crypto/sha256"
	"slices"
	"sync"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
)

// view is a list as seen by callers with the same permissions, in one protocol revision.
type view struct {
	pages  [][]byte                  // JSON arrays of definitions
	size   int                       // of all pages, in bytes
	static func() *mcp.Precompressed // the only page, also compressed
	digest func() [32]byte           // of the list, to detect cursors of another list; computed on first use if there are several pages
}

// viewKey identifies a view.
type viewKey struct {
	kind     listKind
	features catalog.Features
	visible  auth.View // the zero View if every caller sees all tools
}

// Limits of the views cached per endpoint, so that a client that can get tokens with many scope sets can't exhaust the memory.
const (
	maxViews     = 256
	maxViewBytes = 64 << 20 // of their pages; each may be held once more, compressed
)

// view returns the list for a caller, nil without a guard.
func (e *endpoint) view(kind listKind, f catalog.Features, caller *auth.Principal) *view {
	if kind != toolsKind { // other lists depend on nothing else
		f = catalog.Features{Title: f.Title}
	}
	key := viewKey{kind: kind, features: f}
	switch {
	case e.visible == nil:
	case kind == promptsKind:
		key.visible = e.promptScopes.Of(caller)
	default:
		key.visible = e.visible.views.Of(caller)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if v := e.views[key]; v != nil {
		return v
	}
	v := e.newView(key)
	for other, old := range e.views { // any: views are rebuilt on demand
		if len(e.views) < maxViews && e.viewBytes+v.size <= maxViewBytes {
			break
		}
		delete(e.views, other)
		e.viewBytes -= old.size
	}
	e.views[key] = v
	e.viewBytes += v.size
	return v
}

func (e *endpoint) newView(key viewKey) *view {
	visible := func(t *catalog.Tool) bool {
		return e.plans[t.Name] != nil && (e.visible == nil || e.visible.has(key.visible, t))
	}
	v := &view{}
	size := e.pageSize
	switch key.kind {
	case toolsKind:
		v.pages = e.catalog.Pages(key.features, size, visible)
	case resourcesKind, templatesKind:
		v.pages = e.resources.pages(key.kind == templatesKind, key.features.Title, size, visible)
	case promptsKind:
		granted := func(set int) bool { return e.promptScopes == nil || key.visible.Has(set) }
		v.pages = promptPages(visiblePrompts(e.prompts, granted), key.features.Title, size)
	}
	if len(v.pages) == 0 {
		v.pages = [][]byte{[]byte("[]")}
	}
	for _, page := range v.pages {
		v.size += len(page)
	}
	// The only page is stored once, within its result.
	member := []byte(`"` + key.kind.member() + `":`)
	whole := slices.Concat(member, v.pages[0])
	v.pages[0] = whole[len(member):]
	v.static = sync.OnceValue(func() *mcp.Precompressed { return mcp.NewPrecompressed(whole) })
	v.digest = sync.OnceValue(func() (sum [32]byte) {
		h := sha256.New()
		for _, page := range v.pages {
			h.Write(page)
		}
		h.Sum(sum[:0])
		return sum
	})
	return v
}

// visibility determines the tools that a caller may call, and so sees if the others are hidden (Z6). It is immutable.
type visibility struct {
	views *auth.Views
	sets  map[*catalog.Tool][]int // indices of the sets in views that permit a tool
}

func newVisibility(guard *auth.Guard, c *catalog.Catalog, plans map[string]*Plan) *visibility {
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

func (v *visibility) has(w auth.View, t *catalog.Tool) bool {
	for _, n := range v.sets[t] {
		if w.Has(n) {
			return true
		}
	}
	return false
}
