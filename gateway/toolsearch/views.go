package toolsearch

import (
	"sync"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
)

// maxViews bounds the views that are kept, so that a client that can get tokens with many scope sets can't exhaust the memory.
const maxViews = 256

// Views has what callers with the same permissions see of the index of tools. The zero Views is empty. It is safe for concurrent use.
type Views struct {
	mu    sync.Mutex
	index *finder.Index
	views map[any]*finder.View
}

// of returns what callers with given permissions see of an index, which it looks up tool by tool at their first search.
func (s *Views) of(x *finder.Index, granted any, tools []*catalog.Tool, shown func(*catalog.Tool) bool) *finder.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != x {
		s.index, s.views = x, map[any]*finder.View{}
	}
	if v, known := s.views[granted]; known {
		return v
	}
	v := x.View(func(i int) bool { return shown(tools[i]) })
	for other := range s.views { // any: they are made again on demand
		if len(s.views) < maxViews {
			break
		}
		delete(s.views, other)
	}
	s.views[granted] = v
	return v
}
