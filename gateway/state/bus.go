package state

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxMessage is the most bytes of a message between replicas.
	maxMessage = 2 << 20
	// silence is after how long without a message the connection is looked at, and half of after how long it is given up.
	silence = 5 * time.Second
)

// Bus carries messages between replicas that run. A message may be lost, and that is counted where it is noticed; it is not repeated. It
// is read by nobody else and altered by nobody, but who can write to Redis can repeat it for a minute. It is safe for concurrent use.
type Bus struct {
	s *Shared
	// heard grows each time that listening has begun; odd: nobody listens.
	heard atomic.Int64
	told  judge // of being refused to listen

	mu     sync.Mutex
	takers map[string]func([]byte) // by topic
	missed []func()
}

// Bus returns the way to the other replicas.
func (s *Shared) Bus() *Bus { return &s.bus }

// Publish gives a message to all other replicas that have subscribed to the topic. It waits for Redis alone, also if ctx has ended: who says that
// a call is to end may have left.
func (b *Bus) Publish(ctx context.Context, topic string, message []byte) {
	if len(message) > maxMessage {
		b.s.failures[useMessages].Inc()
		return
	}
	channel, sealed := b.envelope(topic, message)
	_ = b.s.do(context.WithoutCancel(ctx), useMessages, func(ctx context.Context, c *redis.Client) error { // which has counted what is lost
		return c.Publish(ctx, channel, sealed).Err()
	})
}

// envelope is a message as it goes over the channel of its topic.
func (b *Bus) envelope(topic string, message []byte) (channel, sealed string) {
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(b.s.id)+len(message)), uint64(b.s.o.Now().UnixMilli()))
	plain = append(append(plain, b.s.id...), message...)
	channel = b.channel(topic)
	return channel, b.s.o.Seal.Seal(plain, []byte(channel))
}

// Subscribe has f take the messages of other replicas about a topic, one after the other: it should not wait. It is for the time
// before [Shared.Run].
func (b *Bus) Subscribe(topic string, f func(message []byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.takers[b.channel(topic)] = f
}

// Missed has f called each time that listening has begun: what others said before may have been missed. f should not wait. It is for the
// time before [Shared.Run].
func (b *Bus) Missed(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missed = append(b.missed, f)
}

func (b *Bus) channel(topic string) string { return b.s.name("bus", topic) }

// epoch names the time since which no message can have been missed; false: nobody listens now.
func (b *Bus) epoch() (int64, bool) {
	n := b.heard.Load()
	return n, n%2 == 1
}

// listen hears messages until ctx ends.
func (b *Bus) listen(ctx context.Context) {
	b.mu.Lock()
	channels := slices.Collect(maps.Keys(b.takers))
	b.mu.Unlock()
	if len(channels) == 0 {
		return
	}
	pause := firstProbe
	for {
		if phase(b.s.phase.Load()) == up {
			if b.hear(ctx, channels) {
				pause = firstProbe
			} else { // each attempt is a connection
				pause = min(2*pause, lastProbe)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// refused counts, and tells the log at most once a minute, that Redis lets nobody listen.
func (b *Bus) refused(err error) {
	b.s.failures[useMessages].Inc()
	if b.told.refused(time.Now()) {
		b.s.o.Logger.Warn("the state that replicas share refuses a use of it, which goes on without", "use", string(useMessages), "error", err)
	}
}

// hear listens over one connection until it breaks; false: it did not come to that.
func (b *Bus) hear(ctx context.Context, channels []string) bool {
	sub := b.s.client.Load().Subscribe(ctx, channels...)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	defer func() { _ = sub.Close() }()
	confirmed, asked := 0, false
	defer func() { // also after a panic of who takes a message
		if confirmed >= len(channels) {
			b.heard.Add(1)
		}
	}()
	for {
		m, err := sub.ReceiveTimeout(ctx, silence)
		var late interface{ Timeout() bool }
		switch {
		case err != nil && errors.As(err, &late) && late.Timeout() && !asked && ctx.Err() == nil:
			if asked = true; sub.Ping(ctx) == nil {
				continue
			}
		case err == nil:
			asked = false
		}
		if err != nil {
			var reply redis.Error
			if large := errors.Is(err, errLargeReply); (large || errors.As(err, &reply)) && ctx.Err() == nil {
				b.refused(err)
			}
			return confirmed >= len(channels)
		}
		switch m := m.(type) {
		case *redis.Subscription:
			if confirmed++; confirmed == len(channels) {
				if b.heard.Add(1) > 1 { // not for the first time: a connection has broken
					b.s.doubt()
				}
				b.mu.Lock()
				missed := b.missed
				b.mu.Unlock()
				for _, f := range missed {
					f()
				}
			}
		case *redis.Message:
			b.take(m.Channel, m.Payload)
		}
	}
}

// take opens a message of another replica, and hands it on. What does not open was not made by one.
func (b *Bus) take(channel, sealed string) {
	b.mu.Lock()
	f := b.takers[channel]
	b.mu.Unlock()
	plain, err := b.s.o.Seal.Open(sealed, []byte(channel))
	if err != nil || f == nil {
		b.s.failures[useMessages].Inc()
		return
	}
	head := 8 + len(b.s.id)
	if len(plain) < head || string(plain[8:head]) == b.s.id {
		return
	}
	age := b.s.o.Now().Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))) //nolint:gosec // it was made of one
	if age.Abs() > clocksApart {
		b.s.failures[useMessages].Inc()
		return
	}
	f(plain[head:])
}
