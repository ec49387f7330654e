package docker

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider finds services in the labels of containers.
type Provider struct {
	d      *config.DockerDiscovery
	client discovery.Client
}

// New returns the provider that asks through a client, which connects to the daemon, must not follow redirects and must let an
// answer take as long as the context of its request.
func New(d *config.DockerDiscovery, client discovery.Client) *Provider {
	return &Provider{d: d, client: client}
}

// Times of a [Provider].
const (
	firstRetry   = 500 * time.Millisecond // after a failure; it doubles
	longestRetry = 4 * time.Second
)

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	for failures := 0; ; {
		listed, err := p.session(ctx, update)
		if ctx.Err() != nil {
			return
		}
		update(nil, err)
		if listed {
			failures = 0
		}
		wait := min(firstRetry<<min(failures, 8), longestRetry)
		failures++
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait/2 + rand.N(wait/2)):
		}
	}
}

// afterEvent are the times after an event at which the containers are listed: together with the changes that follow at once, and
// again, because a daemon reports that a container has ended before its list shows it.
func afterEvent() []time.Duration {
	return []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second}
}

// session lists the containers whenever one of them changes, until something fails. listed tells that it has worked.
func (p *Provider) session(ctx context.Context, update func([]discovery.Target, error)) (listed bool, err error) {
	version, err := p.version(ctx)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	// The events come first, so that no change is lost between the list and them.
	events, err := p.get(ctx, version+"/events", filterOfEvents)
	if err != nil {
		return false, err
	}
	changed, broken := make(chan struct{}, 1), make(chan error, 1)
	reader.Go(func() {
		defer events.Body.Close()
		broken <- p.follow(ctx, events.Body, changed)
	})
	refresh := time.NewTicker(time.Duration(p.d.Refresh))
	defer refresh.Stop()
	waits, stage := afterEvent(), 0
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return listed, ctx.Err()
		case err := <-broken:
			return listed, err
		case <-changed:
			if stage > 0 { // otherwise the list is about to be read
				stage = 0
				next.Reset(waits[0])
			}
			continue
		case <-refresh.C:
		case <-next.C:
			if stage++; stage < len(waits) {
				next.Reset(waits[stage] - waits[stage-1])
			}
		}
		containers, err := p.list(ctx, version)
		if err != nil {
			return listed, err
		}
		listed = true
		update(p.targets(containers))
	}
}
