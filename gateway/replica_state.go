package gateway

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
	"drawbridge/gateway/task"
	"drawbridge/gateway/upstream"
)

const (
	// sharedLabel versions the sealed data in the state that replicas share.
	sharedLabel = "drawbridge shared state 1"
	// topicSessions is the topic of messages between legacy sessions on different replicas: the name of the endpoint, a
	// line break, and the sealed message of its MCP handler.
	topicSessions = "sessions"
	// topicTasks is the topic of the names of tasks that have changed.
	topicTasks = "tasks"
)

// shared is the state that replicas share. Without state.redis each part is local, with the same interface.
type shared struct {
	store   *state.Shared    // connection to Redis; nil if nothing is shared
	seal    *mcp.Sealer      // seals the data in store; nil without store
	replays auth.ReplayCache // used DPoP proofs
	ended   mcp.Revocations  // ended sessions
	spent   mcp.SpentNonces  // used consents
	tasks   state.Records
	holds   state.Locks          // locks on tasks
	rates   state.Rates          // rate counters of principals, tools and APIs
	answers *state.SharedAnswers // shared response cache; nil if each replica has only its own
}

// newShared creates the state without connecting to anything. keys are those that seal handles.
func (g *Gateway) newShared(c *config.Config, keys [][]byte) (*shared, error) {
	replays, ended := auth.NewReplayMemory(nil), state.NewTombstones(0, nil)
	tasks, holds, rates := state.NewLocalRecords(state.RecordLimits{}, nil), state.NewLocalLocks(), state.NewLocalRates(0, g.o.now)
	spent := state.NewLocalOnce(nil)
	r := c.State.Redis
	if r == nil {
		return &shared{replays: replays, ended: ended, spent: spent, tasks: tasks, holds: holds, rates: rates}, nil
	}
	o := state.SharedOptions{
		Network: r.URL.Network(), Address: r.URL.Address(), DB: r.URL.DB(), Prefix: r.Prefix, Timeout: time.Duration(r.Timeout), Pool: r.Connections,
		Logger: g.log, Metrics: g.o.Metrics,
	}
	o.User, o.Password = r.URL.Reveal()
	if r.User != "" {
		o.User = r.User
	}
	if !r.Password.IsZero() {
		o.Password = r.Password.Reveal()
	}
	if r.URL.TLS() {
		_, roots, err := upstream.ReadRoots(r.CAFile.String())
		if err != nil {
			return nil, c.Wrong("state.redis.ca_file", err)
		}
		o.TLS = &tls.Config{RootCAs: roots, ServerName: r.URL.Host(), MinVersion: tls.VersionTLS12}
	}
	seal, err := mcp.NewSealer(keys, sharedLabel)
	if err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	o.Seal, o.Key = seal, nameKey(keys)
	s := state.NewShared(o)
	closed := func(use config.SharedUse) bool { return slices.Contains(c.State.Closed, use) }
	s.Bus().Subscribe(topicSessions, func(message []byte) { g.mcpHandlers.ReceiveRelayed(message) })
	s.Bus().Subscribe(topicTasks, func(key []byte) { g.tasks.Wake(string(key)) })
	var answers *state.SharedAnswers
	if r.Answers {
		answers = s.Answers(int64(c.Limits.Cache), func(group string, places []string) { g.answers.Stale(group, places) }, func() { g.answers.Missed() })
	}
	records := s.Records("task", tasks)
	records.Merge(task.Merge)
	records.OnPublished(func(ctx context.Context, name string) {
		g.tasks.WakeAll(ctx, strings.TrimPrefix(name, task.CallbackPrefix))
	})
	ends := s.Tombstones(ended)
	ends.OnRevoked(func(session string) { g.mcpHandlers.SessionEnded(session) })
	return &shared{
		answers: answers, store: s, seal: seal, replays: s.Replays(replays, closed(config.SharedReplays)), ended: ends,
		spent: s.Once(spent, closed(config.SharedConsents)), tasks: records, holds: s.Locks(holds), rates: s.Rates(rates, closed(config.SharedRates)),
	}, nil
}

// nameKey derives the key that pseudonymizes callers. It uses the least key of the list, so that the order of keys
// doesn't matter and names change only once during a key rotation.
func nameKey(keys [][]byte) []byte {
	mac := hmac.New(sha256.New, slices.MinFunc(keys, bytes.Compare))
	mac.Write([]byte("drawbridge shared names"))
	return mac.Sum(nil)
}

// rekey switches the shared state to the keys of a new configuration.
func (s *shared) rekey(keys [][]byte) error {
	if s.store == nil {
		return nil
	}
	s.store.Rename(nameKey(keys))
	return s.seal.Rekey(keys)
}

// relay returns the function that sends messages to the MCP handlers of an endpoint on other replicas; nil if nothing
// is shared.
func (s *shared) relay(endpoint string) mcp.RelayFunc {
	if s.store == nil {
		return nil
	}
	return func(ctx context.Context, message []byte) error {
		s.store.Bus().Publish(ctx, topicSessions, slices.Concat([]byte(endpoint), []byte{'\n'}, message))
		return nil // lost messages are counted by the bus
	}
}

// changed notifies other replicas that a task has changed.
func (s *shared) changed(ctx context.Context, key string) {
	if s.store != nil {
		s.store.Bus().Publish(ctx, topicTasks, []byte(key))
	}
}

// status returns the state of the shared store for operators; nil if nothing is shared.
func (s *shared) status() *admin.Shared {
	if s.store == nil {
		return nil
	}
	at := s.store.Status()
	return &admin.Shared{Up: at.Up, Since: at.Since, Error: at.Reason, Replicas: at.Replicas}
}
