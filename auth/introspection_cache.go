package auth

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// introspectionResult is the outcome of an introspection: exactly one of verified and rejected is
// set. Neither is set in the zero value.
type introspectionResult struct {
	verified *verified
	rejected *rejection
	until    int64 // Unix time in ns
}

// approxSize is the approximate memory use in bytes.
func (v introspectionResult) approxSize() int {
	if v.verified != nil {
		return v.verified.size
	}
	return sizeOf(0, false)
}

func (v introspectionResult) result() (*verified, error) {
	if v.rejected != nil {
		return nil, v.rejected
	}
	return v.verified, nil
}

// introspectionCache holds the last cacheSize results, valid or not. Unlike the cache of verified
// tokens it evicts the least recently used, so that a flood of invalid tokens does not evict valid
// ones in use (T16).
type introspectionCache struct {
	shards [cacheShards]introspectionShard
}

type introspectionShard struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	order   list.List // of *introspectionEntry, most recently used first
	size    int       // total of the entries
}

type introspectionEntry struct {
	key [sha256.Size]byte
	introspectionResult
}

// get returns the result for a key, if it has not expired.
func (c *introspectionCache) get(key [sha256.Size]byte, now time.Time) introspectionResult {
	s := &c.shards[key[0]%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		return introspectionResult{}
	}
	entry := e.Value.(*introspectionEntry) //nolint:errcheck // the list holds nothing else
	if now.UnixNano() >= entry.until {
		s.drop(e)
		return introspectionResult{}
	}
	s.order.MoveToFront(e)
	return entry.introspectionResult
}

// put stores a result unless it has expired.
func (c *introspectionCache) put(key [sha256.Size]byte, v introspectionResult, now time.Time) {
	if now.UnixNano() >= v.until {
		return
	}
	s := &c.shards[key[0]%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = make(map[[sha256.Size]byte]*list.Element)
	}
	if e := s.entries[key]; e != nil {
		s.drop(e)
	}
	for len(s.entries) > 0 && (len(s.entries) >= shardSize || s.size+v.approxSize() > shardBytes) {
		s.drop(s.order.Back())
	}
	s.entries[key] = s.order.PushFront(&introspectionEntry{key, v})
	s.size += v.approxSize()
}

// drop removes an entry. The caller holds s.mu.
func (s *introspectionShard) drop(e *list.Element) {
	entry := s.order.Remove(e).(*introspectionEntry) //nolint:errcheck // the list holds nothing else
	delete(s.entries, entry.key)
	s.size -= entry.approxSize()
}
