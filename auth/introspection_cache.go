package auth

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// verdict is what came of asking the issuer about a token: it is good or bad. Of the zero value
// neither is set: nothing is known.
type verdict struct {
	good  *verified
	bad   *refusal
	until int64 // Unix time in ns
}

// size is about how many bytes it takes.
func (v verdict) size() int {
	if v.good != nil {
		return v.good.size
	}
	return sizeOf(0, false)
}

func (v verdict) result() (*verified, error) {
	if v.bad != nil {
		return nil, v.bad
	}
	return v.good, nil
}

// verdicts remembers the last cacheSize verdicts, whatever they were: unlike the
// cache of verified tokens it gives up what was not used for longest, so that a
// flood of bad tokens drives out no good one that is in use (T16).
type verdicts struct{ shards [cacheShards]verdictShard }

type verdictShard struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	order   list.List // of *verdictEntry, the last used first
	size    int       // of all of them
}

type verdictEntry struct {
	key [sha256.Size]byte
	verdict
}

// get returns the verdict for a key, if it still counts.
func (c *verdicts) get(key [sha256.Size]byte, now time.Time) verdict {
	s := &c.shards[key[0]%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil {
		return verdict{}
	}
	entry := e.Value.(*verdictEntry) //nolint:errcheck // the list holds nothing else
	if now.UnixNano() >= entry.until {
		s.drop(e)
		return verdict{}
	}
	s.order.MoveToFront(e)
	return entry.verdict
}

// put remembers a verdict that still counts.
func (c *verdicts) put(key [sha256.Size]byte, v verdict, now time.Time) {
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
	for len(s.entries) > 0 && (len(s.entries) >= shardSize || s.size+v.size() > shardBytes) {
		s.drop(s.order.Back())
	}
	s.entries[key] = s.order.PushFront(&verdictEntry{key, v})
	s.size += v.size()
}

// drop forgets a verdict. The caller holds s.mu.
func (s *verdictShard) drop(e *list.Element) {
	entry := s.order.Remove(e).(*verdictEntry) //nolint:errcheck // the list holds nothing else
	delete(s.entries, entry.key)
	s.size -= entry.size()
}
