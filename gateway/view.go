package gateway

import (
	"crypto/sha256"
	"sync"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/mcp"
)

// view is the list of tools as the callers of one kind see it, in one revision of the protocol.
type view struct {
	pages  [][]byte           // JSON arrays of tool definitions
	size   int                // of all pages, in bytes
	static func() *mcp.Static // the only page, compressed too
	digest func() [32]byte    // of the list, so that cursors of another one are recognized; worked out if there are pages
}

// viewKey tells views apart.
type viewKey struct {
	features catalog.Features
	visible  auth.View // the zero View where everybody sees all tools
}

// Bounds of the views that a generation keeps: who can get tokens with many sets of scopes must not fill the memory.
const (
	maxViews     = 256
	maxViewBytes = 64 << 20 // of their pages; each may be held twice more, whole and compressed
)

// view returns the list for a caller.
func (gen *generation) view(f catalog.Features, caller *auth.Principal) *view {
	key := viewKey{features: f}
	if gen.visible != nil {
		key.visible = gen.visible.views.Of(caller)
	}
	gen.mu.Lock()
	defer gen.mu.Unlock()
	if v := gen.views[key]; v != nil {
		return v
	}
	v := gen.newView(key)
	for other, old := range gen.views { // any: they are made anew when they are asked for
		if len(gen.views) < maxViews && gen.viewBytes+v.size <= maxViewBytes {
			break
		}
		delete(gen.views, other)
		gen.viewBytes -= old.size
	}
	gen.views[key] = v
	gen.viewBytes += v.size
	return v
}

func (gen *generation) newView(key viewKey) *view {
	var visible func(*catalog.Tool) bool
	if gen.visible != nil {
		visible = func(t *catalog.Tool) bool { return gen.visible.has(key.visible, t) }
	}
	v := &view{pages: gen.catalog.Pages(key.features, gen.config.Server.PageSize, visible)}
	if len(v.pages) == 0 {
		v.pages = [][]byte{[]byte("[]")}
	}
	for _, page := range v.pages {
		v.size += len(page)
	}
	v.static = sync.OnceValue(func() *mcp.Static {
		return mcp.NewStatic(append([]byte(`"tools":`), v.pages[0]...))
	})
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

// visibility tells which tools a caller may call, and so sees, where the others are hidden (Z6). It is immutable.
type visibility struct {
	views *auth.Views
	sets  map[*catalog.Tool][]int // which sets of views let a tool be called
}

func newVisibility(guard *auth.Guard, gen *generation) *visibility {
	v := &visibility{sets: map[*catalog.Tool][]int{}}
	var all [][]string
	for _, t := range gen.catalog.All() {
		for _, set := range gen.plans[t.Name].Scopes {
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
