package credential

import (
	"crypto/sha256"
	"sync"
	"time"
)

// tokenKey identifies a caller with one token.
type tokenKey struct {
	principal string
	token     [sha256.Size]byte
}

// tokenCache has a tokenSource for each caller, and evicts the least recently used. maxEntries must
// be set.
type tokenCache struct {
	maxEntries int

	mu      sync.Mutex
	entries map[tokenKey]*tokenEntry
	lru     tokenEntry // sentinel of the list: next is the most recently used entry, previous the least
}

// tokenEntry is an entry of the LRU list.
type tokenEntry struct {
	key            tokenKey
	source         tokenSource
	next, previous *tokenEntry
}

// evictionScan is the number of least recently used entries that are checked for each new one.
const evictionScan = 2

func (s *tokenCache) source(key tokenKey, now time.Time) *tokenSource {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = make(map[tokenKey]*tokenEntry)
		s.lru.next, s.lru.previous = &s.lru, &s.lru
	}
	c := s.entries[key]
	if c == nil {
		for range evictionScan {
			if last := s.lru.previous; last != &s.lru && last.source.idle(now) {
				s.evict(last)
			}
		}
		if len(s.entries) >= s.maxEntries {
			s.evict(s.lru.previous)
		}
		c = &tokenEntry{key: key}
		s.entries[key] = c
	} else {
		c.previous.next, c.next.previous = c.next, c.previous
	}
	c.next, c.previous = s.lru.next, &s.lru
	c.next.previous, s.lru.next = c, c
	return &c.source
}

// evict removes an entry; current users of its source are not affected.
func (s *tokenCache) evict(c *tokenEntry) {
	c.previous.next, c.next.previous = c.next, c.previous
	delete(s.entries, c.key)
}
