package state

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"drawbridge/gateway/signal"
)

// maxClockSkew is the tolerated difference between the clocks of replicas: ids that must not be
// reused are remembered for that much longer, and older messages are ignored.
const maxClockSkew = time.Minute

// SharedOptions configure [Shared].
type SharedOptions struct {
	// Network is "tcp" or "unix", and Address host:port or a path.
	Network, Address string
	// DB is the number of the database.
	DB int
	// User and Password authenticate the gateway. If empty, there is no authentication, or the
	// default user's.
	User, Password string
	// TLS is the TLS configuration; nil for cleartext.
	TLS *tls.Config
	// Prefix is the prefix of all names, which a colon follows.
	Prefix string
	// Timeout is the maximum time of one operation, connecting included; 20 ms by default.
	Timeout time.Duration
	// Pool is the maximum number of connections; 32 by default.
	Pool int
	// Seal protects values that authorization depends on. It must be the same for all replicas.
	Seal Sealer
	// Key is the key for names of what could be guessed, such as callers. It must be the same for
	// all replicas, and secret.
	Key []byte
	// Logger receives changes of availability. It may be nil.
	Logger *slog.Logger
	// Metrics registers the metrics. It may be nil.
	Metrics prometheus.Registerer
	// Now is the clock, time.Now if nil. Rates use that of Redis.
	Now func() time.Time
}

// Sealer encrypts and authenticates texts, together with associated data that is needed to open
// them. It is safe for concurrent use.
type Sealer interface {
	Seal(text, bound []byte) string
	Open(sealed string, bound []byte) ([]byte, error)
}

// use is the purpose of an operation. The set is closed, so that it labels a metric.
type use string

const (
	useRates    use = "rates"
	useRecords  use = "records"
	useReplays  use = "replays"
	useOnce     use = "consents"
	useSessions use = "sessions"
	useMessages use = "messages"
	useLocks    use = "locks"
	useReplicas use = "replicas"
	useAnswers  use = "answers"
)

var uses = [...]use{useRates, useRecords, useReplays, useOnce, useSessions, useMessages, useLocks, useReplicas, useAnswers}

// phase is the state of the connection.
type phase int32

const (
	idle phase = iota // before Run: this process is alone
	up
	away
)

// ErrAway is returned for what only the shared state knows, while it is unavailable.
var ErrAway = errors.New("the state that replicas share can't be reached")

// Shared is a Redis that replicas share. One circuit breaker covers all uses: after an operation
// fails for a reason that concerns all, such as the connection, none is tried until a probe of
// [Shared.Run] has succeeded. A timeout pauses its own use, and triggers probes, which decide for
// the others. Before Run nothing is shared. It is safe for concurrent use.
type Shared struct {
	o        SharedOptions
	id       string // of this replica, for the life of the process
	phase    atomic.Int32
	client   atomic.Pointer[redis.Client]
	key      atomic.Pointer[[]byte]
	broken   chan struct{} // signals that Redis became unavailable
	full     atomic.Bool   // it became unavailable because it accepts no writes
	awayAt   atomic.Int64  // when it became unavailable, Unix ns
	wasSlow  atomic.Bool   // it became unavailable because it was too slow
	suspect  chan struct{} // signals a timeout
	replicas replicaCount
	failures map[use]prometheus.Counter
	breakers map[use]*useBreaker
	bus      Bus
	logLimit logLimiter              // limits log messages about availability
	answers  *SharedAnswers          // nil if responses are not shared
	periodic []func(context.Context) // called by Run each second while Redis is available

	mu     sync.Mutex
	since  time.Time // of the phase
	reason string    // for being unavailable
	doubts []func()  // called when Redis may have lost data: it was unavailable, or a connection was lost
}

// NewShared returns a Shared, without connecting.
func NewShared(o SharedOptions) *Shared {
	if o.Timeout <= 0 {
		o.Timeout = 20 * time.Millisecond
	}
	setDefault(&o.Pool, 32)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	logging.Disable() // it writes to standard error for the whole process; its messages are also returned as errors
	s := &Shared{o: o, id: rand.Text(), broken: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
		failures: make(map[use]prometheus.Counter), breakers: make(map[use]*useBreaker), since: o.Now()}
	for _, u := range uses {
		s.breakers[u] = &useBreaker{}
	}
	s.bus = Bus{s: s, handlers: make(map[string]func([]byte))}
	s.replicas.n.Store(1)
	s.Rename(o.Key)
	s.registerMetrics(o.Metrics)
	return s
}

// registerMetrics registers the metrics.
func (s *Shared) registerMetrics(r prometheus.Registerer) {
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_shared_state_errors_total",
		Help: "Failed operations on the shared state, by use."}, []string{"use"})
	for _, u := range uses {
		s.failures[u] = failures.WithLabelValues(string(u))
	}
	if r == nil {
		return
	}
	r.MustRegister(failures,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_shared_state_up",
			Help: "1 if the shared state is reachable."}, func() float64 {
			if phase(s.phase.Load()) == up {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_replicas",
			Help: "Replicas seen recently on the shared state, including this one."}, func() float64 { return float64(s.replicas.n.Load()) }))
}

// newClient returns a client for one period of availability: operations that hang end when it is
// closed.
func (s *Shared) newClient() *redis.Client {
	return redis.NewClient(&redis.Options{
		Network: s.o.Network, Addr: s.o.Address, DB: s.o.DB, Username: s.o.User, Password: s.o.Password, Dialer: s.dial,
		Protocol: 2, PoolSize: s.o.Pool, MinIdleConns: 1, PipelinePoolSize: -1, ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
		MaxRetries: -1, DialerRetries: 1, DialTimeout: probeTimeout, ReadTimeout: probeTimeout, WriteTimeout: probeTimeout, PoolTimeout: s.o.Timeout,
		ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// do runs one operation, if Redis is available and the breaker of its use is closed. The error is
// redis.Nil for a missing value; after other errors, which are counted, the caller continues
// without Redis.
func (s *Shared) do(ctx context.Context, u use, f func(context.Context, *redis.Client) error) error {
	switch phase(s.phase.Load()) {
	case up:
	case away:
		s.failures[u].Inc()
		return ErrAway
	case idle:
		return ErrAway
	}
	j := s.breakers[u]
	if !j.allow(time.Now()) {
		s.failures[u].Inc()
		return ErrAway
	}
	bounded, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	c := s.client.Load()
	err := f(bounded, c)
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		j.succeeded()
		return err
	case ctx.Err() != nil:
		j.abandoned()
		return ctx.Err() // the caller has left, which says nothing about Redis
	}
	s.failures[u].Inc()
	switch {
	case isTimeout(err):
		if j.timedOut(time.Now()) {
			s.o.Logger.Warn("the shared state is too slow for an operation", "use", string(u), "error", err)
		}
		signal.Raise(s.suspect)
	case isAway(err):
		j.abandoned()
		if s.client.Load() == c {
			s.setAway(err)
		}
	default:
		if j.rejected(time.Now()) {
			s.o.Logger.Warn("the shared state rejects an operation; continuing without it", "use", string(u), "error", err)
		}
	}
	return err
}

// isTimeout reports whether an operation took too long. A probe determines whether Redis as a whole
// is slow.
func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &timeout) && timeout.Timeout()
}

// isAway reports whether an error means that Redis is unusable, not only for one operation.
func isAway(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return true
	}
	for _, word := range [...]string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "NOAUTH", "WRONGPASS"} {
		if strings.HasPrefix(reply.Error(), word) {
			return true
		}
	}
	return isFull(err)
}

// isFull reports whether Redis accepts no writes: it has no memory, can't write to its disk, or has
// too few replicas of its own.
func isFull(err error) bool {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	for _, word := range [...]string{"OOM", "MISCONF", "NOREPLICAS"} {
		if strings.HasPrefix(reply.Error(), word) {
			return true
		}
	}
	return false
}

// onDoubt registers f to be called each time that Redis may have lost data. f should not block. It
// must be called before [Shared.Run].
func (s *Shared) onDoubt(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubts = append(s.doubts, f)
}

// doubt notifies all uses that Redis may have lost data.
func (s *Shared) doubt() {
	s.mu.Lock()
	doubts := s.doubts
	s.mu.Unlock()
	for _, f := range doubts {
		f()
	}
}

// alone reports whether Run has not begun, so that nothing is shared.
func (s *Shared) alone() bool { return phase(s.phase.Load()) == idle }

// setAway records, once, that Redis is unavailable.
func (s *Shared) setAway(err error) {
	if !s.phase.CompareAndSwap(int32(up), int32(away)) {
		return
	}
	s.full.Store(isFull(err))
	s.wasSlow.Store(isTimeout(err))
	s.awayAt.Store(time.Now().UnixNano())
	s.setReason(err.Error())
	s.logAway(err)
	signal.Raise(s.broken)
}

// logAway logs that Redis is unavailable.
func (s *Shared) logAway(err error) {
	tell, suppressed := s.logLimit.allow(time.Now())
	if !tell {
		return
	}
	log := s.o.Logger
	if suppressed > 0 {
		log = log.With("untold_before", suppressed)
	}
	if isFull(err) {
		log.Warn("the shared state is full, or read-only: continuing with local state", "error", err)
		return
	}
	log.Warn("the shared state is unreachable: continuing with local state", "error", err)
}

func (s *Shared) setReason(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.reason = s.o.Now(), reason
}

// SharedStatus is the state of the connection, for operators.
type SharedStatus struct {
	Up       bool
	Since    time.Time
	Reason   string // reason for not being up
	Replicas int    // last seen, this one included
}

// Status returns the state of the connection.
func (s *Shared) Status() SharedStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SharedStatus{Up: phase(s.phase.Load()) == up, Since: s.since, Reason: s.reason, Replicas: int(s.replicas.n.Load())}
}
