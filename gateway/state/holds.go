package state

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Holds has one at a time do something under a name. It is safe for concurrent use.
type Holds interface {
	// Hold takes a name; false: somebody has it. Whoever gets it calls release, or loses it after the given time if his process
	// dies.
	Hold(ctx context.Context, name string, most time.Duration) (release func(), ok bool)
}

// LocalHolds is [Holds] for one process.
type LocalHolds struct {
	mu    sync.Mutex
	taken map[string]struct{}
}

// NewLocalHolds makes one in which nothing is taken.
func NewLocalHolds() *LocalHolds { return &LocalHolds{taken: make(map[string]struct{})} }

// Hold implements [Holds].
func (h *LocalHolds) Hold(_ context.Context, name string, _ time.Duration) (release func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.taken[name]; taken {
		return nil, false
	}
	h.taken[name] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.taken, name)
	}, true
}

// releaseScript lets go of a name if it is still ours.
var releaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`)

// SharedHolds is [Holds] for all replicas.
type SharedHolds struct {
	s     *Shared
	local *LocalHolds
}

// Holds returns what replicas hold against each other. While Redis is away each of them holds names for itself alone.
func (s *Shared) Holds(local *LocalHolds) *SharedHolds { return &SharedHolds{s: s, local: local} }

// Hold implements [Holds].
func (h *SharedHolds) Hold(ctx context.Context, name string, most time.Duration) (release func(), ok bool) {
	free, ok := h.local.Hold(ctx, name, most)
	if !ok {
		return nil, false
	}
	key, token := h.s.name("hold", digest(name)), rand.Text()
	err := h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error {
		return c.SetArgs(ctx, key, token, redis.SetArgs{Mode: "NX", TTL: most}).Err()
	})
	if errors.Is(err, redis.Nil) {
		free()
		return nil, false
	}
	if errors.Is(err, ErrAway) { // it was not asked
		return free, true
	}
	ctx = context.WithoutCancel(ctx)
	return func() { // also after an error: an answer that came too late may have been yes
		_ = h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error {
			return releaseScript.Run(ctx, c, []string{key}, token).Err()
		})
		free()
	}, true
}
