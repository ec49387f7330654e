package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Provider watches the Services of a cluster.
type Provider struct {
	d        *config.KubernetesDiscovery
	api      *apiServer
	sources  []*source
	watchers []*watcher
	events   chan func() // run by the goroutine of Run alone
}

// source is the objects of one kind in one namespace, or in all.
type source struct {
	synced  bool // it was listed
	refused bool // the API server has refused the list, and none was read before
	err     error
	dropped int // objects beyond maxObjects
	objects map[string]object
	wrong   map[string]error // objects that can't be read, by name
}

// Limits and times of a [Provider].
const (
	// maxObjects is the most objects of one kind in one namespace, or in all.
	maxObjects = 20_000
	// maxProblems is the most problems that an error names.
	maxProblems = 5
	// settle is the time from a change until it is reported, so that a burst of changes is one.
	settle = 100 * time.Millisecond
)

// New returns the provider that watches a cluster through a client, which must not follow redirects or limit the size of
// responses.
func New(d *config.KubernetesDiscovery, c *Cluster, client discovery.Client) *Provider {
	p := &Provider{d: d, api: &apiServer{cluster: c, client: client}, events: make(chan func())}
	namespaces := d.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		p.watch(resource{group: "/api/v1", name: "services", namespace: namespace, selector: d.Selector}, decodeService)
		p.watch(resource{group: "/apis/discovery.k8s.io/v1", name: "endpointslices", namespace: namespace, selector: labelServiceName}, decodeSlice)
	}
	return p
}

// watch adds the objects of a resource.
func (p *Provider) watch(r resource, decode decoder) {
	p.sources = append(p.sources, &source{})
	p.watchers = append(p.watchers, &watcher{api: p.api, resource: r, decode: decode, sink: p.sources[len(p.sources)-1], jitter: rand.Float64})
}

// Run implements [discovery.Provider].
func (p *Provider) Run(ctx context.Context, update func([]discovery.Target, error)) {
	if c, ok := p.api.client.(interface{ Close() }); ok {
		defer c.Close()
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	apply := func(event func()) {
		select {
		case p.events <- event:
		case <-ctx.Done():
		}
	}
	for _, w := range p.watchers {
		running.Go(func() {
			// A panic is one of Run, whose caller recovers it.
			defer func() {
				if v := recover(); v != nil {
					apply(func() { panic(v) })
				}
			}()
			w.run(ctx, apply)
		})
	}
	p.follow(ctx, update)
}

// follow takes over what the watchers report, until ctx ends.
func (p *Provider) follow(ctx context.Context, update func([]discovery.Target, error)) {
	var due <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-p.events:
			event()
			if due == nil {
				due = time.After(settle)
			}
		case <-due:
			due = nil
			p.report(update)
		}
	}
}

// report calls update with all services, unless a list is still missing. A list that was refused counts as an empty one:
// what may not be read costs no other namespace its services.
func (p *Provider) report(update func([]discovery.Target, error)) {
	var problems []error
	missing := false
	for i, s := range p.sources {
		missing = missing || !s.synced && !s.refused
		if s.err != nil {
			problems = append(problems, s.err)
		}
		if s.dropped > 0 {
			problems = append(problems, fmt.Errorf("%s: there are more than %d; %d are left out", p.watchers[i].resource, maxObjects, s.dropped))
		}
		for _, name := range slices.Sorted(maps.Keys(s.wrong)) {
			problems = append(problems, fmt.Errorf("%s: %q is left out: %w", p.watchers[i].resource, name, s.wrong[name]))
		}
	}
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems], fmt.Errorf("and %d more", len(problems)-maxProblems))
	}
	err := errors.Join(problems...)
	switch {
	case !missing:
		update(p.targets(), err)
	case err != nil:
		update(nil, err)
	}
}

// targets returns all services in the order of their names.
func (p *Provider) targets() []discovery.Target {
	services := map[string]*service{}
	endpoints := map[string][]*endpointSlice{}
	for _, s := range p.sources {
		for name, o := range s.objects {
			switch o := o.(type) {
			case *service:
				services[name] = o
			case *endpointSlice:
				endpoints[o.service] = append(endpoints[o.service], o)
			}
		}
	}
	all := make([]discovery.Target, 0, len(services))
	for _, name := range slices.Sorted(maps.Keys(services)) {
		all = append(all, services[name].target(endpoints[name], p.d.Address == config.AddressEndpoints))
	}
	return all
}

// The methods of a source are called by the goroutine of Run.

// replace takes over a list.
func (s *source) replace(l *listed) {
	s.synced, s.refused, s.err = true, false, nil
	s.objects, s.wrong, s.dropped = l.objects, l.wrong, l.dropped
}

// set takes over an object that came or changed; o is nil if it can't be read.
func (s *source) set(name string, o object, err error) {
	delete(s.wrong, name)
	_, known := s.objects[name]
	switch {
	case err != nil:
		delete(s.objects, name)
		if len(s.wrong) < maxObjects {
			s.wrong[name] = err
		}
	case known || len(s.objects) < maxObjects:
		s.objects[name] = o
	default:
		s.dropped++
	}
}

// remove takes over that an object is gone.
func (s *source) remove(name string) {
	delete(s.wrong, name)
	if _, known := s.objects[name]; !known && s.dropped > 0 {
		s.dropped--
		return
	}
	delete(s.objects, name)
}

// fail takes over an error, nil for none. The services that were read before stay.
func (s *source) fail(err error) {
	s.err = err
	s.refused = !s.synced && isForbidden(err)
}
