package credential

import (
	"crypto/sha256"
	"sync"
	"time"
)

// callerKey names a caller with one token.
type callerKey struct {
	principal string
	token     [sha256.Size]byte
}

// callers has a cell for each caller. When there are too many, the one that was
// used least recently is forgotten. The zero value but for most is ready.
type callers struct {
	most int

	mu    sync.Mutex
	cells map[callerKey]*caller
	ring  caller // its next was used last, its previous is the next to go
}

// caller is a cell in the order of use.
type caller struct {
	key            callerKey
	cell           cell
	next, previous *caller
}

// sweep is how many at the end of the order are looked at for each new one.
const sweep = 2

func (s *callers) cell(key callerKey, now time.Time) *cell {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cells == nil {
		s.cells = make(map[callerKey]*caller)
		s.ring.next, s.ring.previous = &s.ring, &s.ring
	}
	c := s.cells[key]
	if c == nil {
		for range sweep {
			if last := s.ring.previous; last != &s.ring && last.cell.idle(now) {
				s.forget(last)
			}
		}
		if len(s.cells) >= s.most {
			s.forget(s.ring.previous)
		}
		c = &caller{key: key}
		s.cells[key] = c
	} else {
		c.previous.next, c.next.previous = c.next, c.previous
	}
	c.next, c.previous = s.ring.next, &s.ring
	c.next.previous, s.ring.next = c, c
	return &c.cell
}

// forget drops a caller; who holds its cell can go on with it.
func (s *callers) forget(c *caller) {
	c.previous.next, c.next.previous = c.next, c.previous
	delete(s.cells, c.key)
}
