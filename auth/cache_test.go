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
	var c cache
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
