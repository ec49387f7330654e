package auth

import (
	"sync"
	"time"
)

// verified is a token that passed all checks.
type verified struct {
	principal *Principal
	issuer    *issuer
	keys      *keySet // the key set that it was verified with; nil: it was introspected
	until     int64   // Unix time in ns: "exp", without the skew (T19)
	// thumbprint is of the key that its sender must prove to have (RFC 7638);
	// empty: it is good in anybody's hands.
	thumbprint string
	audiences  []string // "aud"
}

const (
	cacheShards = 16
	cacheSize   = 10_000
	shardSize   = cacheSize / cacheShards
)

// cache remembers verified tokens by SHA-256, never a token itself. Only
// successes are kept, so nobody without a good token can fill it.
type cache struct{ shards [cacheShards]cacheShard }

type cacheShard struct {
	mu     sync.RWMutex
	tokens map[[32]byte]*verified
}

// get returns a token that is still good: not expired, and verified with the
// issuer's present keys (T19).
func (c *cache) get(sum [32]byte, now time.Time) *verified {
	s := &c.shards[sum[0]%cacheShards]
	s.mu.RLock()
	v := s.tokens[sum]
	s.mu.RUnlock()
	if v == nil || now.UnixNano() >= v.until || v.issuer.current(now) != v.keys {
		return nil
	}
	return v
}

// put remembers a token. A full shard gives up an expired one of a few that it
// looks at, or else any: the order of a map is as good as chance.
func (c *cache) put(sum [32]byte, v *verified, now time.Time) {
	s := &c.shards[sum[0]%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = make(map[[32]byte]*verified)
	}
	if _, known := s.tokens[sum]; !known && len(s.tokens) >= shardSize {
		var victim [32]byte
		looked := 0
		for k, old := range s.tokens {
			victim = k
			if looked++; looked == 8 || old.until <= now.UnixNano() {
				break
			}
		}
		delete(s.tokens, victim)
	}
	s.tokens[sum] = v
}
