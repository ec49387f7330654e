package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/registration"
	"drawbridge/gateway/source"
	"drawbridge/gateway/upstream"
)

// newRegistration returns the authorization server in front of a provider, which is off unless the configuration in use turns it on.
func (g *Gateway) newRegistration() *registration.Server {
	return registration.New(registration.Options{
		Config: g.Config,
		Provider: func(is *config.Issuer) (*http.Client, error) {
			return upstream.ProviderClient("registration", &is.Issuer, is.CAFile, is.Proxy, g.o.Version, g.recovery.Report)
		},
		// Without named hosts the client reaches public addresses only: anybody can name a document (E1).
		Documents: func(c *config.Config) *http.Client {
			return upstream.NewClient(source.WithDefaultLimits(upstream.Options{
				Name: "client metadata", Proxy: upstream.ConfiguredProxy(c.Proxy), OnPanic: g.recovery.Report,
			})).Documents()
		},
		Verify: g.verifyToken, Sealer: g.logins, Spent: g.shared.Spent, Address: g.clients.Limited, Log: g.log, Now: g.o.Test.Now,
	})
}

// verifyToken returns the reason that an access token for a resource of the gateway is not accepted; nil if it is.
func (g *Gateway) verifyToken(ctx context.Context, resource, token string) error {
	c, guard := g.Config(), g.guard.Load()
	if guard == nil {
		return fmt.Errorf("no tokens are accepted at present")
	}
	for n, e := range c.Endpoints {
		if slices.Contains(c.EndpointResources(e.Name), resource) {
			guard = guard.Endpoint(n)
		}
	}
	if e := guard.Explain(ctx, token); !e.Accepted {
		return fmt.Errorf("%s; %s", e.Reason, e.Advice)
	}
	return nil
}
