package auth

import (
	"sync"
	"time"
)

// verified is a token that passed all checks.
type verified struct {
	principal *Principal
	issuer    *issuer
	keys      *keySet // the key set used for verification; nil if it was introspected
	until     int64   // Unix time in ns: "exp", without the skew (T19)
	// thumbprint is that of the key the token is bound to (RFC 7638), empty for a bearer token.
	thumbprint string
	audiences  []string // "aud"
	size       int      // approximate memory use in bytes
}

// Limits of the token cache and the introspection cache: 64 MiB hold 10,000 tokens with 3 KiB of
// kept claims each.
const (
	cacheShards = 16
	cacheSize   = 10_000
	cacheBytes  = 64 << 20
	shardSize   = cacheSize / cacheShards
	shardBytes  = cacheBytes / cacheShards
)

// sizeOf returns the approximate memory use of a token with claims of that length. Kept claims are
// stored as text, and decoded when a condition uses them.
func sizeOf(claims int, kept bool) int {
	const fixed = 512
	if kept {
		return fixed + 2*claims
	}
	return fixed + claims/2
}

// tokenCache holds verified tokens by SHA-256, never a token itself. Only valid tokens are stored,
// so an attacker without one can't fill it.
type tokenCache struct{ shards [cacheShards]tokenShard }

type tokenShard struct {
	mu     sync.RWMutex
	tokens map[[32]byte]*verified
	size   int // total of the tokens
}

// get returns a token that has not expired and was verified with the issuer's current keys (T19).
func (c *tokenCache) get(sum [32]byte, now time.Time) *verified {
	s := &c.shards[sum[0]%cacheShards]
	s.mu.RLock()
	v := s.tokens[sum]
	s.mu.RUnlock()
	if v == nil || now.UnixNano() >= v.until || v.issuer.currentKeys(now) != v.keys {
		return nil
	}
	return v
}

// put stores a token. A full shard evicts an expired one among a few entries, or else any of them;
// map iteration picks at random.
func (c *tokenCache) put(sum [32]byte, v *verified, now time.Time) {
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

// drop removes a token, if present. The caller holds s.mu.
func (s *tokenShard) drop(sum [32]byte) {
	if old := s.tokens[sum]; old != nil {
		s.size -= old.size
		delete(s.tokens, sum)
	}
}
