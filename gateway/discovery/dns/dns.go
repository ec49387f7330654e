package dns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider asks for SRV records.
type Provider struct {
	d    *config.DNSDiscovery
	last []*discovery.Target // by the index of the name; nil if it was not resolved yet
}

// New returns the provider of the names of a configuration.
func New(d *config.DNSDiscovery) *Provider {
	return &Provider{d: d, last: make([]*discovery.Target, len(d.Names))}
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	discovery.Poll(ctx, time.Duration(p.d.Refresh), p.ask, update)
}

const (
	attempts   = 4           // for one name
	timeout    = time.Second // of an attempt; resolvers wait for five by default
	concurrent = 16          // names at a time
)

// ask returns the services; nil if no name was resolved.
func (p *Provider) ask(ctx context.Context) ([]discovery.Target, error) {
	resolver := p.resolver()
	errs := make([]error, len(p.d.Names))
	var lookups sync.WaitGroup
	free := make(chan struct{}, concurrent)
	for i, name := range p.d.Names {
		free <- struct{}{}
		lookups.Go(func() {
			defer func() { <-free }()
			t, err := p.lookup(ctx, resolver, name)
			if errs[i] = err; t != nil {
				p.last[i] = t
			}
		})
	}
	lookups.Wait()
	var targets []discovery.Target
	failed := 0
	for i, t := range p.last {
		if errs[i] != nil {
			failed++
		}
		if t != nil {
			targets = append(targets, *t)
		}
	}
	if failed == len(errs) {
		targets = nil // so that it is asked again soon
	}
	return targets, discovery.JoinProblems(errs)
}

// resolver returns the resolver of the configuration. Each answer comes from the network.
func (p *Provider) resolver() *net.Resolver {
	server := p.d.DNSServer()
	if server == "" {
		return net.DefaultResolver
	}
	var dialer net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, server)
	}}
}

// lookup returns the service of a name. One that has no records has no instances, so that what is known of it stays. With records
// that can't be used there is both a service and an error.
func (p *Provider) lookup(ctx context.Context, resolver *net.Resolver, name string) (*discovery.Target, error) {
	var records []*net.SRV
	var err error
	for range attempts {
		if records, err = ask(ctx, resolver, name); err == nil || !isTimeout(err) {
			break
		}
	}
	if failed := (*net.DNSError)(nil); errors.As(err, &failed) {
		failed.Server = cmp.Or(p.d.DNSServer(), failed.Server) // the resolver names that of the system
		if failed.IsNotFound && len(records) == 0 {
			err = nil
		}
	}
	if err != nil && len(records) == 0 {
		return nil, err
	}
	return p.target(name, records), err // an error with records tells that others are left out
}

// ask asks for the records of a name once.
func ask(ctx context.Context, resolver *net.Resolver, name string) ([]*net.SRV, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, records, err := resolver.LookupSRV(ctx, "", "", strings.TrimSuffix(name, ".")+".")
	return records, err
}

func isTimeout(err error) bool {
	var failed *net.DNSError
	return errors.As(err, &failed) && failed.IsTimeout
}

// target returns a service with the records of the lowest priority, which are preferred to all others.
func (p *Provider) target(name string, records []*net.SRV) *discovery.Target {
	t := &discovery.Target{Scheme: cmp.Or(string(p.d.Scheme), "http")}
	if p.d.Scheme == "" && strings.HasPrefix(strings.ToLower(name), "_https.") {
		t.Scheme = "https"
	}
	t.Name, t.Namespace = config.SRVService(name)
	if len(records) == 0 {
		t.Problem = fmt.Sprintf("%s has no SRV records", name)
		return t
	}
	preferred := slices.MinFunc(records, func(a, b *net.SRV) int { return cmp.Compare(a.Priority, b.Priority) }).Priority
	for _, r := range records {
		host := strings.TrimSuffix(r.Target, ".")
		if r.Priority == preferred && host != "" && r.Port != 0 { // the root as target means that there is no such service
			t.Instances = append(t.Instances, net.JoinHostPort(host, strconv.Itoa(int(r.Port))))
		}
	}
	slices.Sort(t.Instances)
	if len(t.Instances) == 0 {
		t.Problem = fmt.Sprintf("the SRV records of %s say that there is no such service", name)
	}
	return t
}
