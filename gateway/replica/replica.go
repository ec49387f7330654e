package replica

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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

// State is the state that replicas share, see [New].
type State struct {
	Replays auth.ReplayCache // used DPoP proofs
	Ended   mcp.Revocations  // ended sessions
	Spent   mcp.SpentNonces  // used consents
	Tasks   state.Records
	Locks   state.Locks          // locks on tasks
	Rates   state.Rates          // rate counters of principals, tools and APIs
	Answers *state.SharedAnswers // shared response cache; nil if each replica has only its own

	store *state.Shared // connection to Redis; nil if nothing is shared
	seal  *mcp.Sealer   // seals the data in store; nil without store
}

// Events are called for what other replicas do. They may be called as soon as [State.Run] runs.
type Events struct {
	Relayed      func(message []byte)                  // a message for the MCP handlers of an endpoint
	TaskChanged  func(key string)                      // the record of a task has changed
	TaskStored   func(ctx context.Context, key string) // the record of a task that could not be stored is stored now
	Stale        func(group string, places []string)   // cached responses are stale
	Missed       func()                                // notices about cached responses were missed
	SessionEnded func(session string)
}

// Options are the parameters of [New].
type Options struct {
	Keys    [][]byte // seal handles
	Logger  *slog.Logger
	Metrics prometheus.Registerer
	Now     func() time.Time // clock of rate counters; time.Now if nil
	Events  Events
}

// New returns the state of a configuration without connecting to anything.
func New(c *config.Config, o Options) (*State, error) {
	replays, ended, spent := auth.NewReplayMemory(nil), state.NewTombstones(0, nil), state.NewLocalOnce(nil)
	tasks, locks, rates := state.NewLocalRecords(state.RecordLimits{}, nil), state.NewLocalLocks(), state.NewLocalRates(0, o.Now)
	r := c.State.Redis
	if r == nil {
		return &State{Replays: replays, Ended: ended, Spent: spent, Tasks: tasks, Locks: locks, Rates: rates}, nil
	}
	so, err := sharedOptions(c, r, &o)
	if err != nil {
		return nil, err
	}
	seal, err := mcp.NewSealer(o.Keys, sharedLabel)
	if err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	so.Seal, so.Key = seal, nameKey(o.Keys)
	s := state.NewShared(so)
	closed := func(use config.SharedUse) bool { return slices.Contains(c.State.Closed, use) }
	s.Bus().Subscribe(topicSessions, o.Events.Relayed)
	s.Bus().Subscribe(topicTasks, func(key []byte) { o.Events.TaskChanged(string(key)) })
	var answers *state.SharedAnswers
	if r.Answers {
		answers = s.Answers(int64(c.Limits.Cache), o.Events.Stale, o.Events.Missed)
	}
	records := s.Records("task", tasks)
	records.Merge(task.Merge)
	records.OnPublished(func(ctx context.Context, name string) {
		o.Events.TaskStored(ctx, strings.TrimPrefix(name, task.CallbackPrefix))
	})
	ends := s.Tombstones(ended)
	ends.OnRevoked(o.Events.SessionEnded)
	return &State{
		Answers: answers, store: s, seal: seal, Replays: s.Replays(replays, closed(config.SharedReplays)), Ended: ends,
		Spent: s.Once(spent, closed(config.SharedConsents)), Tasks: records, Locks: s.Locks(locks), Rates: s.Rates(rates, closed(config.SharedRates)),
	}, nil
}

// sharedOptions returns the options of the connection to Redis, but for the keys.
func sharedOptions(c *config.Config, r *config.Redis, from *Options) (state.SharedOptions, error) {
	o := state.SharedOptions{
		Network: r.URL.Network(), Address: r.URL.Address(), DB: r.URL.DB(), Prefix: r.Prefix, Timeout: time.Duration(r.Timeout), Pool: r.Connections,
		Logger: from.Logger, Metrics: from.Metrics,
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
			return o, c.Wrong("state.redis.ca_file", err)
		}
		o.TLS = &tls.Config{RootCAs: roots, ServerName: r.URL.Host(), MinVersion: tls.VersionTLS12}
	}
	return o, nil
}

// Run keeps the connection to the shared store until ctx ends. It returns at once if nothing is shared.
func (s *State) Run(ctx context.Context) error {
	if s.store == nil {
		return nil
	}
	return s.store.Run(ctx)
}

// nameKey derives the key that pseudonymizes callers. It uses the least key of the list, so that the order of keys
// doesn't matter and names change only once during a key rotation.
func nameKey(keys [][]byte) []byte {
	mac := hmac.New(sha256.New, slices.MinFunc(keys, bytes.Compare))
	mac.Write([]byte("drawbridge shared names"))
	return mac.Sum(nil)
}

// Rekey switches the shared state to the keys of a new configuration.
func (s *State) Rekey(keys [][]byte) error {
	if s.store == nil {
		return nil
	}
	s.store.Rename(nameKey(keys))
	return s.seal.Rekey(keys)
}

// Relay returns the function that sends messages to the MCP handlers of an endpoint on other replicas; nil if nothing
// is shared.
func (s *State) Relay(endpoint string) mcp.RelayFunc {
	if s.store == nil {
		return nil
	}
	return func(ctx context.Context, message []byte) error {
		s.store.Bus().Publish(ctx, topicSessions, slices.Concat([]byte(endpoint), []byte{'\n'}, message))
		return nil // lost messages are counted by the bus
	}
}

// TaskChanged notifies other replicas that a task has changed.
func (s *State) TaskChanged(ctx context.Context, key string) {
	if s.store != nil {
		s.store.Bus().Publish(ctx, topicTasks, []byte(key))
	}
}

// Status returns the state of the shared store for operators; nil if nothing is shared.
func (s *State) Status() *admin.Shared {
	if s.store == nil {
		return nil
	}
	at := s.store.Status()
	return &admin.Shared{Up: at.Up, Since: at.Since, Error: at.Reason, Replicas: at.Replicas}
}
