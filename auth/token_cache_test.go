package auth

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"
)

// TestCacheBound: the cache never holds more than it may, gives up expired
// tokens rather than good ones if it finds any, and forgets nothing else.
func TestCacheBound(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	i := &issuer{}
	i.keys.Store(&keySet{})
	i.fetched.Store(now.UnixNano())
	var c tokenCache
	put := func(n int, until time.Time) [32]byte {
		sum := sha256.Sum256(fmt.Append(nil, n))
		c.put(sum, &verified{principal: &Principal{}, issuer: i, keys: i.keys.Load(), until: until.UnixNano()}, now)
		return sum
	}
	for n := range 3 * cacheSize {
		sum := put(n, now.Add(time.Hour))
		if c.get(sum, now) == nil {
			t.Fatalf("token %d was not kept", n)
		}
	}
	total := 0
	for n := range c.shards {
		total += len(c.shards[n].tokens)
	}
	if total != cacheSize {
		t.Errorf("%d tokens, want %d", total, cacheSize)
	}
	sum := put(-1, now.Add(time.Second))
	if c.get(sum, now.Add(time.Second)) != nil {
		t.Error("an expired token was found")
	}
}

// TestCacheBytes: tokens with large claims, and answers about them, are bounded
// by what they take.
func TestCacheBytes(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	i := &issuer{}
	i.keys.Store(&keySet{})
	i.fetched.Store(now.UnixNano())
	until := now.Add(time.Hour).UnixNano()
	var c tokenCache
	var known introspectionCache
	for n := range 2 * cacheSize {
		sum := sha256.Sum256(fmt.Append(nil, n))
		for range 2 { // it may be put twice
			v := &verified{principal: &Principal{}, issuer: i, keys: i.keys.Load(), until: until, size: sizeOf(n%5*maxToken, true)}
			c.put(sum, v, now)
			known.put(sum, introspectionResult{verified: v, until: until}, now)
		}
		if c.get(sum, now) == nil || known.get(sum, now).verified == nil {
			t.Fatalf("token %d was not kept", n)
		}
	}
	for n := range c.shards {
		tokens, verdicts := 0, 0
		for _, v := range c.shards[n].tokens {
			tokens += v.size
		}
		for _, e := range known.shards[n].entries {
			verdicts += e.Value.(*introspectionEntry).approxSize()
		}
		if s, v := &c.shards[n], &known.shards[n]; s.size != tokens || v.size != verdicts || max(tokens, verdicts) > shardBytes ||
			min(tokens, verdicts) < shardBytes-5*maxToken*2-512 || v.order.Len() != len(v.entries) {
			t.Errorf("shard %d: %d of %d bytes, %d of %d", n, s.size, tokens, v.size, verdicts)
		}
	}
	sum := sha256.Sum256(fmt.Append(nil, 2*cacheSize-1))
	if known.get(sum, time.Unix(0, until)).verified != nil || known.shards[sum[0]%cacheShards].size > shardBytes-512 {
		t.Error("an old verdict still counts")
	}
}
