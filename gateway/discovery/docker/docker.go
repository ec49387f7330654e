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
	settle       = 100 * time.Millisecond // from an event until the containers are listed, with those that follow
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
	signal, broken := make(chan struct{}, 1), make(chan error, 1)
	reader.Go(func() {
		defer events.Body.Close()
		broken <- p.follow(ctx, events.Body, signal)
	})
	refresh := time.NewTicker(time.Duration(p.d.Refresh))
	defer refresh.Stop()
	settled := time.NewTimer(0)
	defer settled.Stop()
	planned := true
	for {
		select {
		case <-ctx.Done():
			return listed, ctx.Err()
		case err := <-broken:
			return listed, err
		case <-signal:
			if !planned {
				planned = true
				settled.Reset(settle)
			}
			continue
		case <-refresh.C:
		case <-settled.C:
			planned = false
		}
		containers, err := p.list(ctx, version)
		if err != nil {
			return listed, err
		}
		listed = true
		update(p.targets(containers))
	}
}
