package discovery

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/signal"
)

// touch plans the publication of what has changed: soon, but a burst of changes is published once.
func (m *Manager) touch() {
	now := time.Now()
	if m.dirty.IsZero() {
		m.dirty = now
	}
	m.publish.Reset(min(quiet, max(m.dirty.Add(longest).Sub(now), 0)))
}

// store publishes a snapshot.
func (m *Manager) store() {
	next := m.build()
	m.save()
	old := m.snapshot.Swap(next)
	m.settle()
	if reflect.DeepEqual(old.APIs, next.APIs) && reflect.DeepEqual(old.Keys, next.Keys) {
		return // only states are others
	}
	signal.Raise(m.changed)
}

// settle closes settled once nothing is awaited.
func (m *Manager) settle() {
	select {
	case <-m.settled:
		return
	default:
	}
	waits := func(p *providerState) bool {
		return !p.answered && p.err == "" || slices.ContainsFunc(p.keys(), func(k key) bool { return p.services[k].searching || p.services[k].reading })
	}
	if m.used && !slices.ContainsFunc(m.providers, waits) {
		close(m.settled)
	}
}

func (m *Manager) providerStatus() (all []ProviderStatus) {
	for _, p := range m.providers {
		all = append(all, p.status())
	}
	return all
}

// build makes the snapshot.
func (m *Manager) build() *Snapshot {
	snapshot := &Snapshot{Providers: m.providerStatus()}
	taken, logged := map[string]string{}, 0
	for name := range m.configured {
		taken[name] = "a configured API"
	}
	keys, serving := map[string]string{}, []*Instances(nil)
	for _, n := range m.names() {
		api, status := n.status(taken)
		m.logWarnings(n, &status, &logged)
		snapshot.Services = append(snapshot.Services, status)
		if api != nil {
			taken[strings.ToLower(api.Name)] = n.claim.String()
			one := m.Instances(api.Service())
			n.s.publish(one)
			serving = append(serving, one)
			snapshot.APIs, keys[api.Name] = append(snapshot.APIs, *api), n.p.key
		}
	}
	m.serving = serving
	m.instances.prune()
	slices.SortFunc(snapshot.APIs, func(a, b config.API) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(snapshot.Services, func(a, b ServiceStatus) int { return strings.Compare(a.API, b.API) })
	for i := range snapshot.APIs {
		snapshot.Keys = append(snapshot.Keys, keys[snapshot.APIs[i].Name])
	}
	return snapshot
}

// publish passes the instances on to the callers of the service and the readers of its document.
func (s *service) publish(to *Instances) {
	known := &addresses{all: s.target.Instances, former: s.former}
	known.documents, known.only = s.rollout.routes()
	to.known.Store(known)
	if s.moved {
		to.moved.raise()
	}
	if s.came {
		to.came.raise()
	}
	s.moved, s.came = false, false
}
