package state

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// takeScript is [Limit.Decide] for several keys with the clock of Redis, so that replicas with
// different clocks count alike. Its arguments are interval, burst and n of each key, times in
// microseconds. It returns, for each key, the duration until the whole burst is available again, as
// of before the call. An invalid value counts as absent. One farther away than the whole burst
// takes is from another limit, or from the clock of another Redis before a failover: it counts as
// an exhausted burst.
var takeScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local before, after, beyond, refused = {}, {}, {}, false
for i = 1, #KEYS do
  local interval, burst, n = tonumber(ARGV[3*i-2]), tonumber(ARGV[3*i-1]), tonumber(ARGV[3*i])
  local full = redis.pcall('GET', KEYS[i])
  if type(full) ~= 'string' then full = 0 end
  full = tonumber(full)
  if not full or full ~= full then full = 0 end
  local room = interval * burst
  local due = full - now
  if due < 0 or due > room + 86400000000 then due = 0 end
  if due > room then due, beyond[i] = room, room end
  before[i] = math.floor(due)
  after[i] = math.floor(due) + interval * math.min(n, burst)
  if math.max(after[i], math.floor(due) + interval) > room then refused = true end
end
for i = 1, #KEYS do
  local away = beyond[i]
  if not refused and tonumber(ARGV[3*i]) > 0 then away = after[i] end
  if away then
    redis.call('SET', KEYS[i], string.format('%.0f', now + away), 'PX', math.ceil(away / 1000) + 1)
  end
end
return before
`)

// SharedRateCounters implements [RateCounters] for all replicas together.
type SharedRateCounters struct {
	s      *Shared
	local  *LocalRateCounters
	closed bool
}

// RateCounters returns counters that replicas share. While Redis is unavailable each replica counts in
// local, with its share of each limit: the limit divided by the number of replicas last seen. If
// closed is set, nothing is allowed then.
func (s *Shared) RateCounters(local *LocalRateCounters, closed bool) *SharedRateCounters {
	return &SharedRateCounters{s: s, local: local, closed: closed}
}

// Take implements [RateCounters].
func (r *SharedRateCounters) Take(ctx context.Context, key string, l Limit, n int) (Decision, error) {
	decisions, err := r.TakeAll(ctx, []Take{{key, l, n}})
	return decisions[0], err
}

// TakeAll implements [RateCounters]. The error is always nil: if Redis is unavailable the decision is
// local, and counted as an error of the shared state. The keys must be different.
func (r *SharedRateCounters) TakeAll(ctx context.Context, takes []Take) ([]Decision, error) {
	keys, args := make([]string, len(takes)), make([]any, 0, 3*len(takes))
	for i, t := range takes {
		keys[i] = r.s.name("rate", r.s.pseudonym(t.Key))
		args = append(args, strconv.FormatInt(micros(t.Limit.Interval), 10), strconv.Itoa(t.Limit.Burst), strconv.Itoa(t.N))
	}
	var due []int64
	err := r.s.do(ctx, useRates, func(ctx context.Context, c *redis.Client) (err error) {
		due, err = takeScript.Run(ctx, c, keys, args...).Int64Slice()
		return err
	})
	if err != nil || len(due) != len(takes) {
		return r.takeLocal(ctx, takes), nil
	}
	decisions := make([]Decision, len(takes))
	for i, t := range takes {
		l := Limit{Interval: time.Duration(micros(t.Limit.Interval)) * time.Microsecond, Burst: t.Limit.Burst}
		_, decisions[i] = l.Decide(time.Duration(due[i])*time.Microsecond, t.N)
	}
	return decisions, nil
}

// micros is an interval in whole microseconds: one at least, and a little longer rather than shorter.
func micros(interval time.Duration) int64 {
	return max(1, int64((interval+time.Microsecond-1)/time.Microsecond))
}

// takeLocal decides without Redis.
func (r *SharedRateCounters) takeLocal(ctx context.Context, takes []Take) []Decision {
	if r.closed && !r.s.alone() {
		decisions := make([]Decision, len(takes))
		for i := range decisions {
			decisions[i] = Decision{RetryAfter: time.Second, Reset: time.Second, Uncounted: true}
		}
		return decisions
	}
	n := int(r.s.replicas.n.Load())
	shares := make([]Take, len(takes))
	for i, t := range takes {
		shares[i] = Take{t.Key, t.Limit.share(n), t.N}
	}
	decisions, _ := r.local.TakeAll(ctx, shares)
	return decisions
}

// share is the part of a limit that is one of n replicas': never less than one call.
func (l Limit) share(n int) Limit {
	if n <= 1 {
		return l
	}
	return Limit{Interval: l.Interval * time.Duration(n), Burst: max(1, l.Burst/n)}
}
