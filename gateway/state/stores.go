package state

import (
	"context"
	"slices"
	"time"
)

const (
	// topicSessions is the topic of messages between legacy sessions on different replicas: the name
	// of the endpoint, a line break, and the sealed message of its MCP handler.
	topicSessions = "sessions"
	// topicTasks is the topic of the names of tasks that have changed.
	topicTasks = "tasks"
)

// Stores are the stores of a gateway, one for each use. Without Redis each is in the memory of the
// process, with the same interface. See [NewStores].
type Stores struct {
	Replays ReplayCache // used DPoP proofs
	Ended   Revocations // ended sessions
	Spent   Once        // used consents
	Tasks   Records
	// Accounts are the accounts of callers at services; nil if nothing is shared.
	Accounts *SharedRecords
	Locks    Locks          // locks on tasks
	Rates    RateCounters   // rate counters of principals, tools and APIs
	Answers  *SharedAnswers // shared response cache; nil if each replica has only its own

	shared *Shared // connection to Redis; nil if nothing is shared
	seal   KeyedSealer
}

// StoresOptions are the parameters of [NewStores].
type StoresOptions struct {
	// Replays remembers used DPoP proofs in this process.
	Replays LocalReplays
	// Now is the clock of the rate counters in this process; time.Now if nil.
	Now func() time.Time
	// Redis is the connection to the Redis that replicas share, without Seal and Key; nil if nothing
	// is shared. The fields below apply only with it.
	Redis *SharedOptions
	// Keys are secrets that all replicas have, at least one. Names in Redis are derived from them.
	Keys [][]byte
	// Seal seals values in Redis with Keys.
	Seal KeyedSealer
	// Closed are the uses that are refused while Redis is unavailable.
	Closed ClosedUses
	// SharesAnswers reports whether replicas share cached responses, of which each stores at most
	// AnswerBytes.
	SharesAnswers bool
	AnswerBytes   int64
	// MergeTasks merges the records of a task that two replicas have written, see
	// [SharedRecords.Merge].
	MergeTasks func(value, other []byte) []byte
	// Events are called for what other replicas do.
	Events Events
}

// ClosedUses are the uses that are refused while Redis is unavailable, because the state of one
// process is not enough for them.
type ClosedUses struct{ Replays, Spent, Rates bool }

// KeyedSealer is a [Sealer] whose keys change with the configuration.
type KeyedSealer interface {
	Sealer
	// Rekey replaces the keys. If there is an error, nothing changes.
	Rekey(keys [][]byte) error
}

// Events are called for what other replicas do. They may be called as soon as [Stores.Run] runs.
type Events struct {
	Relayed      func(message []byte)                   // a message for the MCP handlers of an endpoint
	TaskChanged  func(key string)                       // the record of a task has changed
	TaskStored   func(ctx context.Context, name string) // a record in Tasks that could not be stored is stored now
	Stale        func(group string, places []string)    // cached responses are stale
	Missed       func()                                 // notices about cached responses were missed
	SessionEnded func(session string)
}

// NewStores returns the stores without connecting to anything.
func NewStores(o StoresOptions) *Stores {
	ended, spent := NewTombstones(0, nil), NewLocalOnce(nil)
	tasks, locks, rates := NewLocalRecords(RecordLimits{}, nil), NewLocalLocks(), NewLocalRateCounters(0, o.Now)
	if o.Redis == nil {
		return &Stores{Replays: o.Replays, Ended: ended, Spent: spent, Tasks: tasks, Locks: locks, Rates: rates}
	}
	so := *o.Redis
	so.Seal, so.Key = o.Seal, nameKey(o.Keys)
	s := NewShared(so)
	s.Bus().Subscribe(topicSessions, o.Events.Relayed)
	s.Bus().Subscribe(topicTasks, func(key []byte) { o.Events.TaskChanged(string(key)) })
	var answers *SharedAnswers
	if o.SharesAnswers {
		answers = s.Answers(o.AnswerBytes, o.Events.Stale, o.Events.Missed)
	}
	records := s.Records("task", tasks)
	records.Merge(o.MergeTasks)
	records.OnPublished(o.Events.TaskStored)
	accounts := s.Records("account", NewLocalRecords(RecordLimits{}, o.Now))
	ends := s.Tombstones(ended)
	ends.OnRevoked(o.Events.SessionEnded)
	return &Stores{
		Replays: s.Replays(o.Replays, o.Closed.Replays), Ended: ends, Spent: s.Once(spent, o.Closed.Spent), Tasks: records, Accounts: accounts, Locks: s.Locks(locks),
		Rates: s.RateCounters(rates, o.Closed.Rates), Answers: answers, shared: s, seal: o.Seal,
	}
}

// Run keeps the connection to Redis until ctx ends. It returns at once if nothing is shared.
func (s *Stores) Run(ctx context.Context) error {
	if s.shared == nil {
		return nil
	}
	return s.shared.Run(ctx)
}

// Rekey switches to the keys of a new configuration.
func (s *Stores) Rekey(keys [][]byte) error {
	if s.shared == nil {
		return nil
	}
	s.shared.Rename(nameKey(keys))
	return s.seal.Rekey(keys)
}

// Relay returns the function that sends messages to the MCP handlers of an endpoint on other
// replicas; nil if nothing is shared. Lost messages are counted by the bus.
func (s *Stores) Relay(endpoint string) func(ctx context.Context, message []byte) error {
	if s.shared == nil {
		return nil
	}
	return func(ctx context.Context, message []byte) error {
		s.shared.Bus().Publish(ctx, topicSessions, slices.Concat([]byte(endpoint), []byte{'\n'}, message))
		return nil
	}
}

// TaskChanged notifies other replicas that a task has changed.
func (s *Stores) TaskChanged(ctx context.Context, key string) {
	if s.shared != nil {
		s.shared.Bus().Publish(ctx, topicTasks, []byte(key))
	}
}

// Status returns the state of the connection to Redis; nil if nothing is shared.
func (s *Stores) Status() *SharedStatus {
	if s.shared == nil {
		return nil
	}
	status := s.shared.Status()
	return &status
}
