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
	// maxMessage is the maximum size of a message in bytes.
	maxMessage = 2 << 20
	// idleTimeout is the time without a message after which the connection is pinged, and half of the
	// time after which it is closed.
	idleTimeout = 5 * time.Second
)

// Bus sends messages between running replicas. A message may be lost, which is counted where it is
// noticed; it is not repeated. Messages are encrypted and authenticated, but anybody with write
// access to Redis can replay one for a minute. It is safe for concurrent use.
type Bus struct {
	s *Shared
	// epoch is incremented when subscribing succeeds and when the connection is lost: it is odd
	// while subscribed.
	epoch    atomic.Int64
	logLimit useBreaker // limits log messages about rejected subscriptions

	mu       sync.Mutex
	handlers map[string]func([]byte) // by channel
	missed   []func()
}

// Bus returns the message bus.
func (s *Shared) Bus() *Bus { return &s.bus }

// Publish sends a message to all other replicas that have subscribed to the topic. It does not
// observe the cancellation of ctx, because the caller that ends a call may have left; only the
// timeout of Redis applies.
func (b *Bus) Publish(ctx context.Context, topic string, message []byte) {
	if len(message) > maxMessage {
		b.s.failures[useMessages].Inc()
		return
	}
	channel, sealed := b.envelope(topic, message)
	_ = b.s.do(context.WithoutCancel(ctx), useMessages, func(ctx context.Context, c *redis.Client) error { // do has counted a loss
		return c.Publish(ctx, channel, sealed).Err()
	})
}

// envelope returns the channel of a topic and the sealed form of a message.
func (b *Bus) envelope(topic string, message []byte) (channel, sealed string) {
	plain := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(b.s.id)+len(message)), uint64(b.s.o.Now().UnixMilli()))
	plain = append(append(plain, b.s.id...), message...)
	channel = b.channel(topic)
	return channel, b.s.o.Seal.Seal(plain, []byte(channel))
}

// Subscribe registers f for the messages of other replicas about a topic. f is called sequentially
// and should not block. Subscribe must be called before [Shared.Run].
func (b *Bus) Subscribe(topic string, f func(message []byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handlers[b.channel(topic)] = f
}

// Missed registers f to be called each time that subscribing has succeeded: earlier messages may
// have been missed. f should not block. Missed must be called before [Shared.Run].
func (b *Bus) Missed(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.missed = append(b.missed, f)
}

func (b *Bus) channel(topic string) string { return b.s.name("bus", topic) }

// subscription returns a number that identifies the current uninterrupted subscription; false if
// there is none.
func (b *Bus) subscription() (int64, bool) {
	n := b.epoch.Load()
	return n, n%2 == 1
}

// listen receives messages until ctx ends.
func (b *Bus) listen(ctx context.Context) {
	b.mu.Lock()
	channels := slices.Collect(maps.Keys(b.handlers))
	b.mu.Unlock()
	if len(channels) == 0 {
		return
	}
	pause := firstProbe
	for {
		if phase(b.s.phase.Load()) == up {
			if b.receive(ctx, channels) {
				pause = firstProbe
			} else { // each attempt opens a connection
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

// subscribeRejected counts a rejected subscription, and logs it at most once a minute.
func (b *Bus) subscribeRejected(err error) {
	b.s.failures[useMessages].Inc()
	if b.logLimit.rejected(time.Now()) {
		b.s.o.Logger.Warn("the shared state rejects an operation; continuing without it", "use", string(useMessages), "error", err)
	}
}

// receive receives messages over one connection until it fails, and reports whether subscribing
// succeeded.
func (b *Bus) receive(ctx context.Context, channels []string) bool {
	sub := b.s.client.Load().Subscribe(ctx, channels...)
	defer context.AfterFunc(ctx, func() { _ = sub.Close() })()
	defer func() { _ = sub.Close() }()
	confirmed, pinged := 0, false
	defer func() { // also after a panic of a handler
		if confirmed >= len(channels) {
			b.epoch.Add(1)
		}
	}()
	for {
		m, err := sub.ReceiveTimeout(ctx, idleTimeout)
		var timeout interface{ Timeout() bool }
		switch {
		case err != nil && errors.As(err, &timeout) && timeout.Timeout() && !pinged && ctx.Err() == nil:
			if pinged = true; sub.Ping(ctx) == nil {
				continue
			}
		case err == nil:
			pinged = false
		}
		if err != nil {
			var reply redis.Error
			if large := errors.Is(err, errLargeReply); (large || errors.As(err, &reply)) && ctx.Err() == nil {
				b.subscribeRejected(err)
			}
			return confirmed >= len(channels)
		}
		switch m := m.(type) {
		case *redis.Subscription:
			if confirmed++; confirmed == len(channels) {
				if b.epoch.Add(1) > 1 { // not the first time: the connection was lost
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
			b.dispatch(m.Channel, m.Payload)
		}
	}
}

// dispatch opens a message of another replica and calls its handler. A message that does not open
// is not from a replica.
func (b *Bus) dispatch(channel, sealed string) {
	b.mu.Lock()
	f := b.handlers[channel]
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
	age := b.s.o.Now().Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))) // written by envelope
	if age.Abs() > maxClockSkew {
		b.s.failures[useMessages].Inc()
		return
	}
	f(plain[head:])
}
