package state

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Holds has one at a time do something under a name. It is safe for concurrent use.
type Holds interface {
	// Hold takes a name; false: somebody has it. Whoever gets it calls release, or loses it soon if his process dies.
	Hold(ctx context.Context, name string) (release func(), ok bool)
}

// LocalHolds is [Holds] for one process.
type LocalHolds struct {
	mu    sync.Mutex
	taken map[string]struct{}
}

// NewLocalHolds makes one in which nothing is taken.
func NewLocalHolds() *LocalHolds { return &LocalHolds{taken: make(map[string]struct{})} }

// Hold implements [Holds].
func (h *LocalHolds) Hold(_ context.Context, name string) (release func(), ok bool) {
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

// holdLease is for how long a name is held that nobody renews, which a process that lives does each second: longer than Redis is away for as a
// rule, and not so long that who waits for one whose release was lost notices.
const holdLease = 5 * time.Second

// renewScript has names be held for longer that are ours, or that nobody has: Redis was away when they were taken, or has lost them. It is given
// how long, and for each name what stands there if it is ours.
var renewScript = redis.NewScript(`
for i = 1, #KEYS do
  local token = redis.call('GET', KEYS[i])
  if not token or token == ARGV[i + 1] then redis.call('SET', KEYS[i], ARGV[i + 1], 'PX', ARGV[1]) end
end
return 0
`)

// releaseScript lets go of a name if it is still ours.
var releaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`)

// SharedHolds is [Holds] for all replicas.
type SharedHolds struct {
	s     *Shared
	local *LocalHolds

	mu   sync.Mutex
	held map[string]string // what stands in Redis under the names that are held here
}

// Holds returns what replicas hold against each other. It is for the time before [Shared.Run]. While Redis is away each of them holds names for
// itself alone, and within a second after it is back against those that take them then.
func (s *Shared) Holds(local *LocalHolds) *SharedHolds {
	h := &SharedHolds{s: s, local: local, held: make(map[string]string)}
	s.repeated = append(s.repeated, h.renew)
	return h
}

// renew goes on holding what is held.
func (h *SharedHolds) renew(ctx context.Context) {
	var keys []string
	args := []any{holdLease.Milliseconds()}
	h.mu.Lock()
	renewed := maps.Clone(h.held)
	h.mu.Unlock()
	for key, token := range renewed {
		keys, args = append(keys, key), append(args, token)
	}
	if len(keys) == 0 {
		return
	}
	_ = h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error { // the next is a second later
		return renewScript.Run(ctx, c, keys, args...).Err()
	})
	h.mu.Lock()
	maps.DeleteFunc(renewed, func(key, token string) bool { return h.held[key] == token })
	h.mu.Unlock()
	for key, token := range renewed { // let go of meanwhile, and taken again by the script perhaps
		h.release(ctx, key, token)
	}
}

// release lets go of a name.
func (h *SharedHolds) release(ctx context.Context, key, token string) {
	_ = h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error { // what is not released is not renewed
		return releaseScript.Run(ctx, c, []string{key}, token).Err()
	})
}

// Hold implements [Holds].
func (h *SharedHolds) Hold(ctx context.Context, name string) (release func(), ok bool) {
	free, ok := h.local.Hold(ctx, name)
	if !ok {
		return nil, false
	}
	key, token := h.s.name("hold", digest(name)), rand.Text()
	err := h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error {
		return c.SetArgs(ctx, key, token, redis.SetArgs{Mode: "NX", TTL: holdLease}).Err()
	})
	if errors.Is(err, redis.Nil) {
		free()
		return nil, false
	}
	h.mu.Lock() // also if Redis was not asked: it is told when it is there
	h.held[key] = token
	h.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	return func() { // also after an error: an answer that came too late may have been yes
		h.mu.Lock()
		delete(h.held, key)
		h.mu.Unlock()
		h.release(ctx, key, token)
		free()
	}, true
}
