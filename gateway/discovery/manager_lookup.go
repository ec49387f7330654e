package discovery

import (
	"context"
	"errors"
	"time"

	"drawbridge/config"
)

// lookUp looks for the document of a service in a goroutine of its own.
func (m *Manager) lookUp(ctx context.Context, p *providerState, s *service) {
	s.stopLookup()
	own, cancel := context.WithCancel(ctx)
	s.searching, s.cancel = true, cancel
	turn, target, d, isOnlyOne := s.turn, s.target, p.d, p.isOnlyOne(s)
	slots, isFirst := p.slots, s.retries == 0
	m.group.Go(func() {
		defer cancel()
		location, by, err := slots.run(own, isFirst, func(ctx context.Context) (location, by string, err error) {
			err = errLookupPanicked
			m.o.Step("a document was looked for", func() { location, by, err = m.find(ctx, d, &target, isOnlyOne) })
			return location, by, err
		})
		m.post(own, func(ctx context.Context) {
			if s.turn == turn {
				m.found(ctx, p, s, location, by, err)
			}
		})
	})
}

// errLookupPanicked is the result of a lookup that did not end by itself.
var errLookupPanicked = errors.New("internal error while the document was looked for; the log has the cause")

// find looks for the document at the instances of the target alone: another service may have the API name until this one is
// published.
func (m *Manager) find(ctx context.Context, d *config.Discovery, t *Target, isOnlyOne bool) (location, by string, err error) {
	name := apiName(d, &t.Service)
	if t.Text != nil {
		location, err := m.documents.keep(d.Name, name, t.key(), t.Text)
		return location, byRegistry, err
	}
	base := baseURL(t, name)
	api, err := settings(d, t, name, base.String(), isOnlyOne)
	if err != nil {
		return "", "", err
	}
	client, err := m.o.NewClient(&api, t.Instances)
	if err != nil {
		return "", "", err
	}
	if c, ok := client.(interface{ Close() }); ok {
		defer c.Close()
	}
	s := documentLookup{client: client, target: t, base: base, allow: d.AllowServers, paths: d.Documents.Paths, left: d.Documents.Requests}
	return s.find(ctx)
}

// found takes over the result of a lookup, and plans the next one if there was none.
func (m *Manager) found(ctx context.Context, p *providerState, s *service, location, by string, err error) {
	s.searching, s.cancel = false, nil
	if err != nil && s.location != "" && !s.stale {
		return // it was looked for elsewhere; what is served stays
	}
	if err == nil {
		s.found(location, by)
		m.o.Logger.Info("document of a service found", "provider", p.d.Name, "service", s.target.key().String(), "document", location, "by", by)
		m.look(ctx, p, s)
		m.touch()
		return
	}
	s.problem, s.remedy, s.last, s.woken = err.Error(), remedyFor(err), nil, false
	wait := lookupAgain
	if !errors.Is(err, errNoDocument) {
		wait = min(firstRetry<<min(s.retries, 12), lookupAgain)
		s.retries++
	}
	m.o.Logger.Warn("no document of a service", "provider", p.d.Name, "service", s.target.key().String(), "error", err, "next_search_in", wait.String())
	turn := s.turn
	time.AfterFunc(wait, func() {
		m.post(ctx, func(ctx context.Context) {
			if s.turn == turn && s.wanted && p.services[s.target.key()] == s {
				m.lookUp(ctx, p, s)
			}
		})
	})
	m.touch()
}

// found takes over where the document is.
func (s *service) found(location, by string) {
	if s.location == location && !s.stale {
		return
	}
	s.location, s.by, s.problem, s.retries, s.stale = location, by, "", 0, false
	s.rollout.forget()
	s.begin()
}

// begin begins to compare the documents of instances. That of a single one is read anyway.
func (s *service) begin() {
	if s.fresh = len(s.target.Instances) > 1; !s.fresh {
		s.rollout.settle()
	}
}
