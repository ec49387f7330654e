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
)

// clocksApart is how far the clocks of replicas may differ: what must not count again is remembered for so much longer than by the clock
// of who tells of it, and older messages don't count.
const clocksApart = time.Minute

// SharedOptions say where the Redis is that replicas share.
type SharedOptions struct {
	// Network is "tcp" or "unix", and Address host:port or a path.
	Network, Address string
	// DB is the number of the database.
	DB int
	// User and Password authenticate the gateway. Empty: nobody is asked, or the default user.
	User, Password string
	// TLS is how the connection is protected; nil: it is in clear.
	TLS *tls.Config
	// Prefix stands before all names, with a colon behind it.
	Prefix string
	// Timeout is the most that one operation waits, connecting included. 0: 20 ms.
	Timeout time.Duration
	// Pool is the most connections; 0: 32.
	Pool int
	// Seal protects values that decide who may do what. It must be the same for all replicas.
	Seal Sealer
	// Key makes names of what could be guessed, such as callers. It must be the same for all replicas, and secret.
	Key []byte
	// Logger is told when Redis goes and comes; nil: nobody is.
	Logger *slog.Logger
	// Metrics is where the state of the connection is shown; nil: nowhere.
	Metrics prometheus.Registerer
	// Now is the clock of what is kept; nil: time.Now. Rates have that of Redis.
	Now func() time.Time
}

// Sealer makes texts that nobody can read or alter, and that open only with the bound that they were made with. It is safe for
// concurrent use.
type Sealer interface {
	Seal(text, bound []byte) string
	Open(sealed string, bound []byte) ([]byte, error)
}

// use is what an operation is for. The set is closed, so that it labels a metric.
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

// phase is where the connection stands.
type phase int32

const (
	idle phase = iota // Run has not begun: this process is alone
	up
	away
)

// ErrAway is the error of what only the shared state knows, while it can't be reached.
var ErrAway = errors.New("the state that replicas share can't be reached")

// Shared is a Redis that replicas share. There is one breaker for all uses: after the first operation that fails for what concerns all,
// such as its connection, none is tried until a probe of [Shared.Run] has found that it works again. What takes too long pauses its own
// use, and has Redis probed at once, which decides for the others. Until Run begins nothing is shared. It is safe for concurrent use.
type Shared struct {
	o        SharedOptions
	id       string // of this replica, for as long as the process lives
	phase    atomic.Int32
	client   atomic.Pointer[redis.Client]
	key      atomic.Pointer[[]byte]
	broken   chan struct{} // it was left
	full     atomic.Bool   // when it was left, for it took nothing more
	suspect  chan struct{} // something was late
	replicas replicaCount
	failures map[use]prometheus.Counter
	judges   map[use]*judge
	bus      Bus
	told     telling                 // of coming and going
	answers  *SharedAnswers          // nil: they are not shared
	repeated []func(context.Context) // what Run calls each second while Redis is there

	mu     sync.Mutex
	since  time.Time // of the phase
	reason string    // of being away
	doubts []func()  // what Run calls when Redis may have lost something: it was away, or a connection has broken
}

// NewShared makes it, and connects to nothing.
func NewShared(o SharedOptions) *Shared {
	if o.Timeout <= 0 {
		o.Timeout = 20 * time.Millisecond
	}
	orElse(&o.Pool, 32)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	logging.Disable() // it writes to standard error, for all of the process; what it would say comes back as an error
	s := &Shared{o: o, id: rand.Text(), broken: make(chan struct{}, 1), suspect: make(chan struct{}, 1),
		failures: make(map[use]prometheus.Counter), judges: make(map[use]*judge), since: o.Now()}
	for _, u := range uses {
		s.judges[u] = &judge{}
	}
	s.bus = Bus{s: s, takers: make(map[string]func([]byte))}
	s.replicas.n.Store(1)
	s.Rename(o.Key)
	s.measure(o.Metrics)
	return s
}

// measure registers the metrics.
func (s *Shared) measure(r prometheus.Registerer) {
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_shared_state_errors_total",
		Help: "What could not be asked of the state that replicas share, or told to it, by use."}, []string{"use"})
	for _, u := range uses {
		s.failures[u] = failures.WithLabelValues(string(u))
	}
	if r == nil {
		return
	}
	r.MustRegister(failures,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_shared_state_up",
			Help: "1 if the state that replicas share can be reached."}, func() float64 {
			if phase(s.phase.Load()) == up {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_replicas",
			Help: "Replicas that were last seen to share the state, this one included."}, func() float64 { return float64(s.replicas.n.Load()) }))
}

// newClient makes a client for as long as Redis is there without a break: what waits for one that hangs ends with it.
func (s *Shared) newClient() *redis.Client {
	return redis.NewClient(&redis.Options{
		Network: s.o.Network, Addr: s.o.Address, DB: s.o.DB, Username: s.o.User, Password: s.o.Password, Dialer: s.dial,
		Protocol: 2, PoolSize: s.o.Pool, MinIdleConns: 1, PipelinePoolSize: -1, ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
		MaxRetries: -1, DialerRetries: 1, DialTimeout: probeTimeout, ReadTimeout: probeTimeout, WriteTimeout: probeTimeout, PoolTimeout: s.o.Timeout,
		ContextTimeoutEnabled: true, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// do does one operation, if Redis is there and was in time for its use. The error is redis.Nil for what is not there; else the use goes
// on without, which is counted.
func (s *Shared) do(ctx context.Context, u use, f func(context.Context, *redis.Client) error) error {
	switch phase(s.phase.Load()) {
	case up:
	case away:
		s.failures[u].Inc()
		return ErrAway
	case idle:
		return ErrAway
	}
	j := s.judges[u]
	if !j.lets(time.Now()) {
		s.failures[u].Inc()
		return ErrAway
	}
	bounded, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	c := s.client.Load()
	err := f(bounded, c)
	switch {
	case err == nil, errors.Is(err, redis.Nil):
		j.answered()
		return err
	case ctx.Err() != nil:
		j.left()
		return ctx.Err() // nobody waits any more, which says nothing of Redis
	}
	s.failures[u].Inc()
	switch {
	case isLate(err):
		if j.late(time.Now()) {
			s.o.Logger.Warn("the state that replicas share is too slow for a use of it", "use", string(u), "error", err)
		}
		signal(s.suspect)
	case isAway(err):
		j.left()
		if s.client.Load() == c {
			s.leave(err)
		}
	default:
		if j.refused(time.Now()) {
			s.o.Logger.Warn("the state that replicas share refuses a use of it, which goes on without", "use", string(u), "error", err)
		}
	}
	return err
}

// isLate tells errors of an operation that took too long from all others. Whether Redis as a whole is slow, a probe finds out.
func isLate(err error) bool {
	var late interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, redis.ErrPoolTimeout) || errors.As(err, &late) && late.Timeout()
}

// isAway tells errors of a Redis that can't be used from those of one operation.
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

// isFull tells errors of a Redis that takes nothing more: it has no memory, can't write to its disk, or has too few replicas of its own.
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

// doubted has f called each time that Redis may have lost something. f should not wait. It is for the time before [Shared.Run].
func (s *Shared) doubted(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doubts = append(s.doubts, f)
}

// doubt tells all uses that Redis may have lost something.
func (s *Shared) doubt() {
	s.mu.Lock()
	doubts := s.doubts
	s.mu.Unlock()
	for _, f := range doubts {
		f()
	}
}

// signal wakes whoever waits at a channel with room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// alone tells whether nothing was ever to be shared: Run has not begun.
func (s *Shared) alone() bool { return phase(s.phase.Load()) == idle }

// leave notes that Redis can't be reached, once.
func (s *Shared) leave(err error) {
	if !s.phase.CompareAndSwap(int32(up), int32(away)) {
		return
	}
	s.full.Store(isFull(err))
	s.note(err.Error())
	s.tellAway(err)
	signal(s.broken)
}

// tellAway tells the log of a Redis that can't be used.
func (s *Shared) tellAway(err error) {
	tell, untold := s.told.tells(time.Now())
	if !tell {
		return
	}
	log := s.o.Logger
	if untold > 0 {
		log = log.With("untold_before", untold)
	}
	if isFull(err) {
		log.Warn("the state that replicas share is full, or can't write: this one goes on by itself", "error", err)
		return
	}
	log.Warn("the state that replicas share can't be reached: this one goes on by itself", "error", err)
}

func (s *Shared) note(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.reason = s.o.Now(), reason
}

// SharedStatus is the state of the connection, for operators.
type SharedStatus struct {
	Up       bool
	Since    time.Time
	Reason   string // why it is not up
	Replicas int    // that were last seen, this one included
}

// Status tells how the connection stands.
func (s *Shared) Status() SharedStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return SharedStatus{Up: phase(s.phase.Load()) == up, Since: s.since, Reason: s.reason, Replicas: int(s.replicas.n.Load())}
}
