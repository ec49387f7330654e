package nacos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider asks a Nacos server.
type Provider struct {
	d      *config.NacosDiscovery
	client discovery.Client

	account discovery.Account
	budget  *discovery.Budget // of the reading that is under way
	api     version           // of the server; 0 before it has answered
	last    []discovery.Target
	away    bool      // the last request failed
	settled time.Time // until when services that the server does not know are kept
}

// New returns the provider that asks through a client, which must not follow redirects.
func New(d *config.NacosDiscovery, client discovery.Client) *Provider {
	p := &Provider{d: d, client: client, account: discovery.Account{Refused: errRights}}
	if d.Username != "" {
		p.account.Login = p.login
	}
	return p
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	discovery.Poll(ctx, time.Duration(p.d.Refresh), p.next, update)
}

const (
	maxServices = 10_000 // services that are read: as many as a provider may have
	// settling is how long services are kept after an outage. Ephemeral instances live in the memory of the server, and
	// register again with the next heartbeat or connection, within about 15 s.
	settling = 30 * time.Second
)

// next returns the services, with those that a server which may just have started can't know yet.
func (p *Provider) next(ctx context.Context) ([]discovery.Target, error) {
	targets, err := p.ask(ctx)
	if targets == nil {
		p.away = p.last != nil
		return nil, err
	}
	if p.away || len(targets) == 0 && len(p.last) > 0 && p.settled.IsZero() {
		p.settled = time.Now().Add(settling)
	}
	p.away = false
	if time.Now().Before(p.settled) {
		targets = keep(targets, p.last)
	} else {
		p.settled = time.Time{}
	}
	p.last = targets
	return targets, err
}

// keep adds the services of an earlier answer that a new one does not have.
func keep(targets, last []discovery.Target) []discovery.Target {
	type key struct{ namespace, name string }
	known := map[key]bool{}
	for i := range targets {
		known[key{targets[i].Namespace, targets[i].Name}] = true
	}
	for i := range last {
		if !known[key{last[i].Namespace, last[i].Name}] {
			targets = append(targets, last[i])
		}
	}
	return targets
}

// ask returns the services of all groups; nil if one of them can't be read.
func (p *Provider) ask(ctx context.Context) ([]discovery.Target, error) {
	p.budget = discovery.NewBudget(maxRead)
	if p.api == 0 {
		if err := p.detect(ctx); err != nil {
			return nil, err
		}
	}
	targets := []discovery.Target{}
	var problems []error
	for _, group := range p.d.Groups {
		services, more, err := p.services(ctx, group, maxServices-len(targets))
		if err != nil {
			if errors.Is(err, errNotFound) {
				p.api = 0 // the server may have been replaced by another version
			}
			return nil, err
		}
		if more > 0 {
			problems = append(problems, fmt.Errorf("the group %.100q has %d services more than the %d that are read in all", group, more, maxServices))
		}
		for i := range services {
			t, err := p.target(group, &services[i])
			if err != nil {
				problems = append(problems, err)
			}
			if t != nil {
				targets = append(targets, *t)
			}
		}
	}
	return targets, discovery.JoinProblems(problems)
}
