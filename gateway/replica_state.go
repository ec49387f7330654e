package gateway

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/state"
)

const (
	// sharedLabel is the version of what is sealed in the state that replicas share.
	sharedLabel = "drawbridge shared state 1"
	// topicSessions is under which replicas tell each other what legacy sessions say: the name of the endpoint, a line break, and
	// what its MCP handler has sealed.
	topicSessions = "sessions"
	// topicTasks is under which they tell each other the names of tasks that have changed.
	topicTasks = "tasks"
)

// shared is what replicas share; without state.redis, what one of them has by itself. Who uses it knows no difference.
type shared struct {
	store   *state.Shared // nil: nothing is shared
	seal    *mcp.Sealer   // of store
	replays auth.ReplayCache
	ended   mcp.Revocations
	spent   mcp.SpentNonces
	tasks   state.Records
	holds   state.Locks
	rates   state.Rates          // of principals, tools and APIs
	answers *state.SharedAnswers // nil: each replica keeps its own
}

// newShared connects to nothing. keys are those that seal handles.
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
		_, roots, err := rootsOf(r.CAFile)
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
	s.Bus().Subscribe(topicSessions, g.relayed)
	s.Bus().Subscribe(topicTasks, func(key []byte) { g.tasks.wake(string(key)) })
	var answers *state.SharedAnswers
	if r.Answers {
		answers = s.Answers(int64(c.Limits.Cache), func(group string, places []string) { g.answers.Stale(group, places) }, func() { g.answers.Missed() })
	}
	records := s.Records("task", tasks)
	records.Merge(mergeTasks)
	records.OnPublished(func(ctx context.Context, name string) { g.tasks.tell(ctx, strings.TrimPrefix(name, callbackPrefix)) })
	ends := s.Tombstones(ended)
	ends.OnRevoked(func(session string) { g.mcpHandlers.endedElsewhere(session) })
	return &shared{
		answers: answers, store: s, seal: seal, replays: s.Replays(replays, closed(config.SharedReplays)), ended: ends,
		spent: s.Once(spent, closed(config.SharedConsents)), tasks: records, holds: s.Locks(holds), rates: s.Rates(rates, closed(config.SharedRates)),
	}, nil
}

// nameKey is what makes names of callers. The least key of a list is the same in whatever order they stand, so names change once
// while keys are rotated.
func nameKey(keys [][]byte) []byte {
	mac := hmac.New(sha256.New, slices.MinFunc(keys, bytes.Compare))
	mac.Write([]byte("drawbridge shared names"))
	return mac.Sum(nil)
}

// rekey has what is shared follow the keys of a configuration.
func (s *shared) rekey(keys [][]byte) error {
	if s.store == nil {
		return nil
	}
	s.store.Rename(nameKey(keys))
	return s.seal.Rekey(keys)
}

// relay returns the way to the MCP handlers of an endpoint in other replicas; nil: there is none.
func (s *shared) relay(endpoint string) mcp.RelayFunc {
	if s.store == nil {
		return nil
	}
	return func(ctx context.Context, message []byte) error {
		s.store.Bus().Publish(ctx, topicSessions, slices.Concat([]byte(endpoint), []byte{'\n'}, message))
		return nil // what is lost is counted
	}
}

// relayed takes what another replica relays.
func (g *Gateway) relayed(message []byte) {
	endpoint, text, ok := strings.Cut(string(message), "\n")
	if !ok {
		return
	}
	g.mcpHandlers.mu.Lock()
	mcpHandler := g.mcpHandlers.byName[endpoint]
	g.mcpHandlers.mu.Unlock()
	if mcpHandler == nil {
		return
	}
	if err := mcpHandler.ReceiveRelayed([]byte(text)); err != nil {
		g.log.Warn("another replica has told what can't be read", "error", err)
	}
}

// changed tells other replicas that they should look at a task.
func (s *shared) changed(ctx context.Context, key string) {
	if s.store != nil {
		s.store.Bus().Publish(ctx, topicTasks, []byte(key))
	}
}

// awayError makes of what can't be told without the state that replicas share an error for the client, who comes again.
func awayError(err error) error {
	if !errors.Is(err, state.ErrAway) {
		return err
	}
	return &mcp.Error{
		Code: mcp.CodeInternal, Message: "how this task stands can't be told at the moment: try again", HTTPStatus: http.StatusServiceUnavailable,
		Header: http.Header{"Retry-After": {"1"}},
	}
}

// status is the state of what is shared, for operators; nil: nothing is.
func (s *shared) status() *admin.Shared {
	if s.store == nil {
		return nil
	}
	at := s.store.Status()
	return &admin.Shared{Up: at.Up, Since: at.Since, Error: at.Reason, Replicas: at.Replicas}
}
