package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/account"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/source"
	"drawbridge/gateway/state"
	"drawbridge/gateway/upstream"
)

// accountLabel separates what seals accounts from all other uses of the keys, and versions it.
const accountLabel = "drawbridge account 1"

// addAccounts adds the accounts that callers have at services.
func (g *Gateway) addAccounts(keys [][]byte) (err error) {
	if g.tokens, err = mcp.NewSealer(keys, accountLabel); err != nil {
		return err
	}
	g.accounts = account.New(account.Options{
		Records: g.accountRecords(), Locks: g.shared.Locks, Spent: g.shared.Spent, Sealer: g.tokens, Config: g.Config, Services: g.accountServices, Address: g.clients.Limited,
		Provider: func(is *config.Issuer) (*http.Client, error) {
			return upstream.ProviderClient("account", &is.Issuer, is.CAFile, is.Proxy, g.o.Version, g.recovery.Report)
		},
		Log: g.log, Now: g.o.Test.Now,
	})
	return nil
}

// accountRecords returns what keeps accounts: Redis if replicas share one, else a folder.
func (g *Gateway) accountRecords() account.Records {
	if shared := g.shared.Accounts; shared != nil {
		return shared
	}
	if dir := g.o.Config.Server.StateDir.String(); dir != "" {
		return account.Files{Dir: filepath.Join(dir, "accounts")}
	}
	return account.Files{}
}

// accountsOf returns the services of a deployment at which callers have accounts.
func accountsOf(d *generation.Deployment) *[]*account.Service {
	var all []*account.Service
	for _, s := range d.APIs.Sources {
		all = append(all, s.Accounts()...)
	}
	return &all
}

// accountServices returns the services of the configuration in use at which callers have accounts.
func (s *served) accountServices() []*account.Service {
	if all := s.withAccounts.Load(); all != nil {
		return *all
	}
	return nil
}

// Accounts are the accounts of a configuration, for commands beside a running gateway.
type Accounts struct {
	*account.Accounts
	shared *state.Stores
}

// OpenAccounts returns the accounts of a configuration without serving anything.
func OpenAccounts(c *config.Config, log *slog.Logger) (*Accounts, error) {
	keys, err := (&sealKeys{started: c, log: log}).of(c)
	if err != nil {
		return nil, err
	}
	s := newServed()
	g := &Gateway{o: Options{Config: c, Logger: log}.withDefaults(), log: log, served: s}
	if s.shared, err = g.newStores(keys, ignoredEvents); err != nil {
		return nil, err
	}
	sealer, err := mcp.NewSealer(keys, accountLabel)
	if err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	var services []*account.Service
	all := account.New(account.Options{
		Records: g.accountRecords(), Locks: s.shared.Locks, Spent: s.shared.Spent, Sealer: sealer, Log: log,
		Config: func() *config.Config { return c }, Services: func() []*account.Service { return services },
	})
	for _, api := range c.APIs {
		own, err := source.NewAccountServices(all, api, c.Limits.OfSources())
		if err != nil {
			return nil, err
		}
		services = append(services, own...)
	}
	return &Accounts{all, s.shared}, nil
}

// ignoredEvents ignores what replicas do.
var ignoredEvents = state.Events{
	Relayed: func([]byte) {}, TaskChanged: func(string) {}, TaskStored: func(context.Context, string) {}, Stale: func(string, []string) {}, Missed: func() {}, SessionEnded: func(string) {},
}

// Run keeps the connection to Redis until ctx ends, and returns once it is up, with an error if it can't be reached in time. Without Redis
// it does nothing.
func (a *Accounts) Run(ctx context.Context) error {
	if a.shared.Accounts == nil {
		return nil
	}
	go func() { _ = a.shared.Run(ctx) }() // its error is that of ctx
	limit, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	for !a.shared.Status().Up {
		select {
		case <-limit.Done():
			return fmt.Errorf("state.redis can't be reached: %s", a.shared.Status().Reason)
		case <-time.After(connectPause):
		}
	}
	return nil
}

const (
	// connectTime is how long a command waits for Redis, and connectPause the time between two looks.
	connectTime  = 5 * time.Second
	connectPause = 20 * time.Millisecond
)
