package endpoint

import (
	"sync"

	"drawbridge/auth"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/finder"
)

// seenTools has what callers with the same permissions see of the index of tools. It is safe for concurrent use.
type seenTools struct {
	mu    sync.Mutex
	index *finder.Index
	views map[auth.View]*finder.View
}

// of returns what callers with given permissions see of an index, which it looks up tool by tool at the first search.
func (s *seenTools) of(x *finder.Index, granted auth.View, tools []*catalog.Tool, may func(*catalog.Tool) bool) *finder.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != x {
		s.index, s.views = x, map[auth.View]*finder.View{}
	}
	if v, known := s.views[granted]; known {
		return v
	}
	v := x.View(func(i int) bool { return may(tools[i]) })
	for other := range s.views { // any: they are made again on demand
		if len(s.views) < MaxViews {
			break
		}
		delete(s.views, other)
	}
	s.views[granted] = v
	return v
}
