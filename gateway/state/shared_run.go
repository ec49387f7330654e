package state

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

const (
	// beatPause is the heartbeat interval of a replica, and replicaLife the time that a heartbeat
	// counts.
	beatPause   = 2 * time.Second
	replicaLife = 7 * time.Second
	// While Redis is unavailable it is probed after firstProbe, with increasing intervals up to
	// lastProbe.
	firstProbe = 50 * time.Millisecond
	lastProbe  = time.Second
	// stableAfter is the time after which it counts as stable, so that it is probed soon after the next
	// failure.
	stableAfter = 10 * time.Second
	// probeTimeout is the timeout of a probe, and of everything that is not part of a call, such as
	// the first connection.
	probeTimeout = 2 * time.Second
	// suspectTimes is the factor by which the timeout of a probe exceeds that of a call when a
	// probe follows a timeout: it may have to connect.
	suspectTimes = 5
	// maxSlow is the number of heartbeats in a row that must take too long before Redis counts as
	// unavailable: one slow answer, which may be the fault of this machine, is no outage. Each use has a
	// breaker of its own meanwhile.
	maxSlow = 3
	// A Redis that was too slow, and again within steadyAfter of its recovery, has to answer in time for
	// firstHold before it counts as available, each time for twice as long, up to lastHold.
	steadyAfter         = time.Minute
	firstHold, lastHold = 2 * time.Second, time.Minute
	// maxReplicas limits the number of replicas that is accepted.
	maxReplicas = 1000
)

// replicaCount is the number of replicas. A higher number is accepted at once, a lower one only
// when it persists: after a loss of all data, however long the outage, each replica must not assume
// that it is alone.
type replicaCount struct {
	n     atomic.Int64
	fewer time.Time // since when there are fewer; zero if there are not; used by one goroutine
}

func (c *replicaCount) observe(n int64, now time.Time) {
	n = min(max(n, 1), maxReplicas)
	switch {
	case n >= c.n.Load() || !c.fewer.IsZero() && now.Sub(c.fewer) >= 2*replicaLife:
		c.n.Store(n)
		c.fewer = time.Time{}
	case c.fewer.IsZero():
		c.fewer = now
	}
}

// reset is called when Redis became unavailable: the numbers before and after are not comparable.
func (c *replicaCount) reset() { c.fewer = time.Time{} }

// beatScript records the heartbeat of this replica, and returns the number of live replicas. It
// uses the clock of Redis.
var beatScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local life = tonumber(ARGV[2])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - life)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + life, '+inf')
redis.call('PEXPIRE', KEYS[1], life)
return redis.call('ZCARD', KEYS[1])
`)

// Run connects, monitors the connection and receives messages of other replicas, until ctx ends. An
// unavailable Redis is not an error: it is tried again.
func (s *Shared) Run(ctx context.Context) error {
	s.client.Store(s.newClient())
	s.phase.Store(int32(away))
	s.setReason("it was not tried yet")
	group, ctx := errgroup.WithContext(ctx)
	for _, f := range s.periodic {
		group.Go(func() error { s.keep(ctx, func(ctx context.Context) { s.repeat(ctx, f) }); return nil })
	}
	group.Go(func() error { s.keep(ctx, s.monitor); return nil })
	group.Go(func() error { s.keep(ctx, s.bus.listen); return nil })
	if s.answers != nil {
		group.Go(func() error { s.keep(ctx, s.answers.run); return nil })
	}
	err := group.Wait()
	if phase(s.phase.Swap(int32(away))) == up { // so that others notice at once
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Timeout)
		defer cancel()
		_ = s.client.Load().ZRem(bounded, s.name("replicas"), s.id)
	}
	_ = s.client.Load().Close()
	return err
}

// keep runs f until it returns by itself, and restarts it after a panic, which would otherwise end
// the process.
func (s *Shared) keep(ctx context.Context, f func(context.Context)) {
	for ctx.Err() == nil {
		panicked := func() (panicked bool) {
			defer func() {
				if v := recover(); v != nil {
					s.o.Logger.Error("panic in the shared state client", "error", fmt.Errorf("panic: %v", v), "stack", string(debug.Stack()))
					panicked = true
				}
			}()
			f(ctx)
			return false
		}()
		if !panicked {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(firstProbe):
		}
	}
}

// monitor sends heartbeats, and detects whether Redis is available.
func (s *Shared) monitor(ctx context.Context) {
	m := heartbeat{s: s, pause: firstProbe, limit: probeTimeout}
	for ctx.Err() == nil {
		err := s.beat(ctx, m.limit)
		m.limit = probeTimeout
		if ctx.Err() != nil {
			return
		}
		m.record(err)
		m.wait(ctx)
	}
}

// heartbeat is the state of [Shared.monitor]. It is used by one goroutine.
type heartbeat struct {
	s        *Shared
	limit    time.Duration // timeout of connecting in the next heartbeat
	pause    time.Duration // time to the next probe while Redis is unavailable
	reported bool          // the first result was reported
	upSince  time.Time     // time of the last recovery
	slow     int           // heartbeats in a row that took too long, while Redis is available
	hold     holdDown
}

// holdDown is how long Redis has to answer in time before it counts as available again.
type holdDown struct {
	span      time.Duration // of the outage; 0 if the first answer suffices
	decided   bool          // span is that of this outage
	recovered time.Time     // time of the last recovery; zero if there was none
	good      time.Time     // since when it answers in time; zero if it does not
}

// over records an answer in time during an outage that began at away, and reports whether the outage is over.
func (h *holdDown) over(away time.Time, wasSlow bool, now time.Time) bool {
	if !h.decided {
		h.decided = true
		if wasSlow && !h.recovered.IsZero() && away.Sub(h.recovered) < steadyAfter {
			h.span = min(max(2*h.span, firstHold), lastHold)
		} else {
			h.span = 0
		}
	}
	if h.good.IsZero() {
		h.good = now
	}
	if now.Sub(h.good) < h.span {
		return false
	}
	h.decided, h.good, h.recovered = false, time.Time{}, now
	return true
}

// record evaluates the result of a heartbeat.
func (m *heartbeat) record(err error) {
	s := m.s
	switch {
	case err == nil:
		m.slow = 0
		m.succeeded()
	case phase(s.phase.Load()) == up:
		if m.slow++; isTimeout(err) && m.slow < maxSlow {
			return
		}
		m.slow = 0
		s.setAway(err)
	case !m.reported: // at the start
		m.reported = true
		s.setReason(err.Error())
		s.logAway(err)
	default:
		m.hold.good = time.Time{}
	}
}

func (m *heartbeat) succeeded() {
	s := m.s
	if phase(s.phase.Load()) == away {
		if m.reported && !m.hold.over(time.Unix(0, s.awayAt.Load()), s.wasSlow.Load(), time.Now()) {
			return
		}
		s.doubt()
	}
	if s.phase.CompareAndSwap(int32(away), int32(up)) {
		s.setReason("")
		for _, j := range s.breakers {
			j.succeeded()
		}
		if tell, _ := s.logLimit.allow(time.Now()); tell {
			s.o.Logger.Info("connected to the shared state", "replicas", s.replicas.n.Load())
		}
		m.upSince = time.Now()
	}
	m.reported = true
	if m.stable() {
		m.pause = firstProbe
	}
}

func (m *heartbeat) stable() bool { return time.Since(m.upSince) > stableAfter }

// wait returns when the next heartbeat is due, or earlier after a failure of another operation.
func (m *heartbeat) wait(ctx context.Context) {
	s := m.s
	wait := beatPause
	if m.slow > 0 {
		wait, m.limit = firstProbe, suspectTimes*s.o.Timeout
	}
	if phase(s.phase.Load()) != up {
		s.renew()
		wait = m.pause
		m.pause = min(2*m.pause, lastProbe)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-s.suspect:
		if phase(s.phase.Load()) == up {
			m.limit = suspectTimes * s.o.Timeout
		}
	case <-s.broken:
		m.reconnect(ctx)
	}
}

// reconnect replaces the client, and waits until Redis may be available again.
func (m *heartbeat) reconnect(ctx context.Context) {
	m.s.renew()
	if m.pause = min(2*m.pause, lastProbe); m.stable() { // otherwise probes succeed and the next operation fails
		m.pause = firstProbe
	}
	if m.s.full.Load() {
		m.pause = lastProbe // the memory freed by a closed connection is soon used
	}
	select {
	case <-ctx.Done():
	case <-time.After(m.pause):
	}
}

// renew replaces the client. Pending operations of the old one fail now.
func (s *Shared) renew() {
	s.replicas.reset()
	select {
	case <-s.broken:
	default:
	}
	_ = s.client.Swap(s.newClient()).Close()
}

// beat sends a heartbeat. Connecting may take up to limit; then Redis has to respond as fast as
// calls require.
func (s *Shared) beat(ctx context.Context, limit time.Duration) error {
	c := s.client.Load()
	slow, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := c.Ping(slow).Err(); err != nil {
		return err
	}
	fast, cancel := context.WithTimeout(ctx, s.o.Timeout)
	defer cancel()
	n, err := beatScript.Run(fast, c, []string{s.name("replicas")}, s.id, replicaLife.Milliseconds()).Int64()
	var reply redis.Error
	switch {
	case err == nil:
		s.replicas.observe(n, time.Now())
	case errors.As(err, &reply) && !isAway(err):
		s.failures[useReplicas].Inc() // it responds, which is what counts
		return nil
	}
	return err
}
