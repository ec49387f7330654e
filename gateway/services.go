package gateway

import (
	"context"
	"path/filepath"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/providers"
	"drawbridge/gateway/source"
)

// newServices returns what finds the services of the configuration's providers.
func (g *Gateway) newServices() *discovery.Manager {
	o := discovery.Options{
		Logger: g.log, Keep: g.Keep, Step: g.recovery.Step,
		NewProvider: func(d *config.Discovery) (discovery.Provider, error) {
			return providers.New(d, providers.Options{Version: g.o.Version, OnPanic: g.recovery.Report})
		},
		NewClient: func(api *config.API, instances []string) (discovery.Client, error) {
			return source.NewProbe(g.deployer.Sources, api, instances, g.Config().Limits)
		},
	}
	if dir := g.stateDir(); dir != "" {
		o.StateFile, o.DocumentDir = filepath.Join(dir, "discovery.json"), filepath.Join(dir, "discovery")
	}
	return discovery.New(o)
}

// instances returns the instances of a discovered service.
func (g *Gateway) instances(service config.ServiceID) source.Instances {
	return g.services.Instances(service)
}

// AcceptLoss removes the services that a provider has lost; until then they are served although their registry no longer has
// them. The error says why there are none.
func (g *Gateway) AcceptLoss(ctx context.Context, provider string) error {
	return g.services.AcceptLoss(ctx, provider)
}
