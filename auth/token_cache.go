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
	size       int      // bytes that it takes, about
}

// Bounds of the cache of tokens, and of that of verdicts: 64 MiB are 10,000
// tokens whose claims have 3 KiB, where those are kept.
const (
	cacheShards = 16
	cacheSize   = 10_000
	cacheBytes  = 64 << 20
	shardSize   = cacheSize / cacheShards
	shardBytes  = cacheBytes / cacheShards
)

// sizeOf is about what a token with claims of that length takes. Claims that
// are kept stand there as text, and decoded once a condition has looked at them.
func sizeOf(claims int, kept bool) int {
	const fixed = 512
	if kept {
		return fixed + 2*claims
	}
	return fixed + claims/2
}

// cache remembers verified tokens by SHA-256, never a token itself. Only
// successes are kept, so nobody without a good token can fill it.
type cache struct{ shards [cacheShards]cacheShard }

type cacheShard struct {
	mu     sync.RWMutex
	tokens map[[32]byte]*verified
	size   int // of all of them
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
	s.drop(sum)
	for len(s.tokens) > 0 && (len(s.tokens) >= shardSize || s.size+v.size > shardBytes) {
		var victim [32]byte
		looked := 0
		for k, old := range s.tokens {
			victim = k
			if looked++; looked == 8 || old.until <= now.UnixNano() {
				break
			}
		}
		s.drop(victim)
	}
	s.size += v.size
	s.tokens[sum] = v
}

// drop forgets a token, if it is there. The caller holds s.mu.
func (s *cacheShard) drop(sum [32]byte) {
	if old := s.tokens[sum]; old != nil {
		s.size -= old.size
		delete(s.tokens, sum)
	}
}
