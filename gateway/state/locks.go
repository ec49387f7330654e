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

// Locks are named locks. They are safe for concurrent use.
type Locks interface {
	// Lock tries to acquire a lock, and returns false if it is held. The holder must call release;
	// the lock expires soon if its process dies.
	Lock(ctx context.Context, name string) (release func(), ok bool)
	// LockShared is Lock with an error if other replicas may acquire the lock at the same time.
	LockShared(ctx context.Context, name string) (release func(), ok bool, err error)
}

// LocalLocks implements [Locks] for one process.
type LocalLocks struct {
	mu   sync.Mutex
	held map[string]struct{}
}

// NewLocalLocks returns LocalLocks without locks.
func NewLocalLocks() *LocalLocks { return &LocalLocks{held: make(map[string]struct{})} }

// Lock implements [Locks].
func (h *LocalLocks) Lock(_ context.Context, name string) (release func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, taken := h.held[name]; taken {
		return nil, false
	}
	h.held[name] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.held, name)
	}, true
}

// lockLease is the lease of a lock, which is renewed every second: longer than a usual outage of
// Redis, and short enough that a lost release goes unnoticed.
const lockLease = 5 * time.Second

// renewScript renews the leases of locks that are ours or free: Redis was unavailable when they
// were acquired, or has lost them. Its arguments are the lease, and the token of each lock.
var renewScript = redis.NewScript(`
for i = 1, #KEYS do
  local token = redis.call('GET', KEYS[i])
  if not token or token == ARGV[i + 1] then redis.call('SET', KEYS[i], ARGV[i + 1], 'PX', ARGV[1]) end
end
return 0
`)

// releaseScript releases a lock if it is still ours.
var releaseScript = redis.NewScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`)

// SharedLocks implements [Locks] for all replicas.
type SharedLocks struct {
	s     *Shared
	local *LocalLocks

	mu     sync.Mutex
	tokens map[string]string // tokens in Redis of the locks that are held here, by key
}

// Locks returns locks that are shared by all replicas. It must be called before [Shared.Run]. While
// Redis is unavailable, locks exclude only callers of the same replica; within a second after it is
// available again they exclude other replicas.
func (s *Shared) Locks(local *LocalLocks) *SharedLocks {
	h := &SharedLocks{s: s, local: local, tokens: make(map[string]string)}
	s.periodic = append(s.periodic, h.renew)
	return h
}

// renew renews the leases of all locks that are held.
func (h *SharedLocks) renew(ctx context.Context) {
	var keys []string
	args := []any{lockLease.Milliseconds()}
	h.mu.Lock()
	renewed := maps.Clone(h.tokens)
	h.mu.Unlock()
	for key, token := range renewed {
		keys, args = append(keys, key), append(args, token)
	}
	if len(keys) == 0 {
		return
	}
	_ = h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error { // retried after a second
		return renewScript.Run(ctx, c, keys, args...).Err()
	})
	h.mu.Lock()
	maps.DeleteFunc(renewed, func(key, token string) bool { return h.tokens[key] == token })
	h.mu.Unlock()
	for key, token := range renewed { // released meanwhile, and perhaps acquired again by the script
		h.release(ctx, key, token)
	}
}

// release releases a lock in Redis.
func (h *SharedLocks) release(ctx context.Context, key, token string) {
	_ = h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error { // a lock that is not released expires
		return releaseScript.Run(ctx, c, []string{key}, token).Err()
	})
}

// Lock implements [Locks].
func (h *SharedLocks) Lock(ctx context.Context, name string) (release func(), ok bool) {
	release, ok, _ = h.lock(ctx, name)
	return release, ok
}

// LockShared is Lock for what must not happen at two replicas at a time: without Redis it is an error.
func (h *SharedLocks) LockShared(ctx context.Context, name string) (release func(), ok bool, err error) {
	if release, ok, err = h.lock(ctx, name); err != nil {
		release()
		return nil, false, err
	}
	return release, ok, nil
}

// LockShared is Lock: one process shares nothing.
func (h *LocalLocks) LockShared(ctx context.Context, name string) (release func(), ok bool, err error) {
	release, ok = h.Lock(ctx, name)
	return release, ok, nil
}

// lock acquires a lock. With an error it is held in this process alone.
func (h *SharedLocks) lock(ctx context.Context, name string) (release func(), ok bool, err error) {
	free, ok := h.local.Lock(ctx, name)
	if !ok {
		return nil, false, nil
	}
	key, token := h.s.name("hold", digest(name)), rand.Text()
	err = h.s.do(ctx, useLocks, func(ctx context.Context, c *redis.Client) error {
		return c.SetArgs(ctx, key, token, redis.SetArgs{Mode: "NX", TTL: lockLease}).Err()
	})
	if errors.Is(err, redis.Nil) {
		free()
		return nil, false, nil
	}
	h.mu.Lock() // also after an error: renew acquires it when Redis is available
	h.tokens[key] = token
	h.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	return func() { // also after an error: a late response may have been positive
		h.mu.Lock()
		delete(h.tokens, key)
		h.mu.Unlock()
		h.release(ctx, key, token)
		free()
	}, true, err
}
