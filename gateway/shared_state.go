package gateway

import (
	"context"
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

// sharedLabel versions the sealed data in the state that replicas share.
const sharedLabel = "drawbridge shared state 1"

// newStores returns the stores of the configuration: those of the process, or with state.redis those that replicas share.
// events are called for what other replicas do.
func (g *Gateway) newStores(keys [][]byte, events state.Events) (*state.Stores, error) {
	c := g.o.Config
	o := state.StoresOptions{Replays: auth.NewReplayMemory(nil), Now: g.o.Test.Now, Keys: keys, MergeTasks: task.Merge, Events: events}
	if c.State.Redis == nil {
		return state.NewStores(o), nil
	}
	redis, err := g.redisOptions()
	if err != nil {
		return nil, err
	}
	seal, err := mcp.NewSealer(keys, sharedLabel)
	if err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	closed := func(use config.SharedUse) bool { return slices.Contains(c.State.Closed, use) }
	o.Redis, o.Seal = redis, seal
	o.Closed = state.ClosedUses{Replays: closed(config.SharedReplays), Spent: closed(config.SharedConsents), Rates: closed(config.SharedRates)}
	o.SharesAnswers, o.AnswerBytes = c.State.Redis.Answers, int64(c.Limits.Cache)
	return state.NewStores(o), nil
}

// redisOptions returns the options of the connection to Redis, but for the keys.
func (g *Gateway) redisOptions() (*state.SharedOptions, error) {
	r := g.o.Config.State.Redis
	o := &state.SharedOptions{
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
		_, roots, err := upstream.ReadRoots(r.CAFile.String(), nil)
		if err != nil {
			return nil, g.o.Config.Wrong("state.redis.ca_file", err)
		}
		o.TLS = &tls.Config{RootCAs: roots, ServerName: r.URL.Host(), MinVersion: tls.VersionTLS12}
	}
	return o, nil
}

// replicaEvents returns what happens here when other replicas change the shared state.
func (g *Gateway) replicaEvents() state.Events {
	return state.Events{
		Relayed: func(message []byte) { g.mcpHandlers.ReceiveRelayed(message) }, SessionEnded: func(session string) { g.mcpHandlers.SessionEnded(session) },
		TaskChanged: func(key string) { g.tasks.Wake(key) },
		TaskStored: func(ctx context.Context, name string) {
			g.tasks.WakeAll(ctx, strings.TrimPrefix(name, task.CallbackPrefix))
		},
		Stale: func(group string, places []string) { g.answers.Stale(group, places) }, Missed: func() { g.answers.Missed() },
	}
}

// sharedStatus returns the state of the connection to Redis for operators; nil if nothing is shared.
func (s *served) sharedStatus() *admin.Shared {
	at := s.shared.Status()
	if at == nil {
		return nil
	}
	return &admin.Shared{Up: at.Up, Since: at.Since, Error: at.Reason, Replicas: at.Replicas}
}
