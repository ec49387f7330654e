package main

import (
	"context"
	"sync"
	"time"
)

// heartbeats are the services of a registry that wants to hear from each at an interval.
type heartbeats struct {
	mu       sync.Mutex
	services map[string]*service
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// start calls beat for each service at an interval, until stop is called. A server that is away gets the next heartbeat.
func (h *heartbeats) start(ctx context.Context, interval time.Duration, beat func(ctx context.Context, name string, s *service) error) {
	ctx, h.cancel = context.WithCancel(ctx)
	h.services = map[string]*service{}
	h.running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			for _, name := range h.names() {
				h.mu.Lock()
				if s := h.services[name]; s != nil {
					_ = beat(ctx, name, s)
				}
				h.mu.Unlock()
			}
		}
	})
}

func (h *heartbeats) names() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name := range h.services {
		names = append(names, name)
	}
	return names
}

// change calls f with the service of a name, nil if there is none, between two heartbeats; next replaces it, and nil removes it.
func (h *heartbeats) change(name string, next *service, f func(last *service) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.services[name]
	if next == nil {
		delete(h.services, name)
	} else {
		h.services[name] = next
	}
	return f(last)
}

func (h *heartbeats) stop() {
	h.cancel()
	h.running.Wait()
}

// other is a service that is always there and not selected: that an answer has no services may be the sign of a restart.
const other = "other"

func addOther(ctx context.Context, o *options, r registry) error {
	s, err := newService(o.address, other, 1)
	if err != nil {
		return err
	}
	return r.set(ctx, map[string]*service{other: s})
}

// selected is the value of the label by which services are selected.
func selected(name string) string {
	if name == other {
		return "no"
	}
	return "yes"
}
