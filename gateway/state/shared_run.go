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
	// beatPause is the time between two signs of life of a replica, and replicaLife how long one counts.
	beatPause   = 2 * time.Second
	replicaLife = 7 * time.Second
	// While Redis is away it is probed after firstProbe, and then less and less often, until lastProbe.
	firstProbe = 50 * time.Millisecond
	lastProbe  = time.Second
	// steady is after how long it counts as there for good, so that it is probed soon when it goes.
	steady = 10 * time.Second
	// probeTimeout is what a probe may take, and all that is no part of a call, such as connecting for the first time.
	probeTimeout = 2 * time.Second
	// suspectTimes is by how much more a probe may take than a call, in making sure that Redis is there at all after something was late: it
	// may have to connect.
	suspectTimes = 5
	// maxReplicas bounds what is believed of their number.
	maxReplicas = 1000
)

// replicaCount is how many replicas were last seen. More are believed at once. Fewer are when they were seen to be fewer for a while: a
// Redis that has lost everything, however long it was away, does not make each replica believe that it is alone.
type replicaCount struct {
	n     atomic.Int64
	fewer time.Time // since when there are fewer; zero: there are not. Of the goroutine that sees them
}

func (c *replicaCount) see(n int64, now time.Time) {
	n = min(max(n, 1), maxReplicas)
	switch {
	case n >= c.n.Load() || !c.fewer.IsZero() && now.Sub(c.fewer) >= 2*replicaLife:
		c.n.Store(n)
		c.fewer = time.Time{}
	case c.fewer.IsZero():
		c.fewer = now
	}
}

// left notes that Redis was left: what is seen when it is back says nothing of before.
func (c *replicaCount) left() { c.fewer = time.Time{} }

// beatScript enters this replica among those that live, and returns how many they are. Its clock is that of Redis.
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

// Run connects, keeps watch over the connection and hears what other replicas say, until ctx ends. A Redis that is away is no
// error: it is tried again.
func (s *Shared) Run(ctx context.Context) error {
	s.client.Store(s.newClient())
	s.phase.Store(int32(away))
	s.note("it was not tried yet")
	group, ctx := errgroup.WithContext(ctx)
	for _, f := range s.repeated {
		group.Go(func() error { s.keep(ctx, func(ctx context.Context) { s.repeat(ctx, f) }); return nil })
	}
	group.Go(func() error { s.keep(ctx, s.watch); return nil })
	group.Go(func() error { s.keep(ctx, s.bus.listen); return nil })
	if s.answers != nil {
		group.Go(func() error { s.keep(ctx, s.answers.run); return nil })
	}
	err := group.Wait()
	if phase(s.phase.Swap(int32(away))) == up { // others need not wait until it is missed
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Timeout)
		defer cancel()
		_ = s.client.Load().ZRem(bounded, s.name("replicas"), s.id)
	}
	_ = s.client.Load().Close()
	return err
}

// keep runs f until it returns by itself. After a panic, which would take the process with it, it begins anew, a moment later.
func (s *Shared) keep(ctx context.Context, f func(context.Context)) {
	for ctx.Err() == nil {
		panicked := func() (panicked bool) {
			defer func() {
				if v := recover(); v != nil {
					s.o.Logger.Error("panic beside the state that replicas share", "error", fmt.Errorf("panic: %v", v), "stack", string(debug.Stack()))
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

// watch gives signs of life, and notices when Redis goes and comes.
func (s *Shared) watch(ctx context.Context) {
	pause, told := firstProbe, false
	most := probeTimeout
	var came time.Time // for the last time
	for {
		err := s.beat(ctx, most)
		most = probeTimeout
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if phase(s.phase.Load()) == away {
				s.doubt()
			}
			if s.phase.CompareAndSwap(int32(away), int32(up)) {
				s.note("")
				for _, j := range s.judges {
					j.answered()
				}
				if tell, _ := s.told.tells(time.Now()); tell {
					s.o.Logger.Info("the state that replicas share is reached", "replicas", s.replicas.n.Load())
				}
				came = time.Now()
			}
			if told = true; time.Since(came) > steady {
				pause = firstProbe
			}
		case phase(s.phase.Load()) == up:
			s.leave(err)
		case !told: // at the start
			told = true
			s.note(err.Error())
			s.tellAway(err)
		}
		wait := beatPause
		if phase(s.phase.Load()) != up {
			s.renew()
			wait = pause
			pause = min(2*pause, lastProbe)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.suspect:
			if phase(s.phase.Load()) == up {
				most = suspectTimes * s.o.Timeout
			}
		case <-s.broken:
			s.renew()
			if pause = min(2*pause, lastProbe); time.Since(came) > steady { // else a probe finds it well, and the next operation does not
				pause = firstProbe
			}
			if s.full.Load() {
				pause = lastProbe // the room that a closed connection leaves is soon taken
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// renew takes a new client. What waits for an answer over the old one fails now.
func (s *Shared) renew() {
	s.replicas.left()
	select {
	case <-s.broken:
	default:
	}
	_ = s.client.Swap(s.newClient()).Close()
}

// beat gives a sign of life. Connecting may take its time, so much at most; then Redis has to answer as fast as a call needs it.
func (s *Shared) beat(ctx context.Context, most time.Duration) error {
	c := s.client.Load()
	slow, cancel := context.WithTimeout(ctx, most)
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
		s.replicas.see(n, time.Now())
	case errors.As(err, &reply) && !isAway(err):
		s.failures[useReplicas].Inc() // it answers, and that is what counts
		return nil
	}
	return err
}
