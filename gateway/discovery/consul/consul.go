package consul

import (
	"context"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider watches the catalog of Consul.
type Provider struct {
	d      *config.ConsulDiscovery
	client discovery.Client
}

// New returns the provider that asks through a client, which must not follow redirects and must let an answer take as long as
// the context of its request.
func New(d *config.ConsulDiscovery, client discovery.Client) *Provider {
	return &Provider{d: d, client: client}
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	ctx, cancel := context.WithCancel(ctx)
	var queries sync.WaitGroup
	defer queries.Wait()
	defer cancel()
	r := &watcher{
		p: p, update: update, results: make(chan result), catalog: &watch{}, services: map[string]*watch{}, publish: time.NewTimer(time.Hour),
	}
	r.publish.Stop()
	r.enqueue(r.catalog, time.Time{})
	r.run(ctx, queries.Go)
}
