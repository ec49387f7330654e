package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"drawbridge/config"
)

// RetryLookups looks again for the documents of services that have none. Reloads call it.
func (m *Manager) RetryLookups() {
	select {
	case m.events <- func(ctx context.Context) { m.wakeAll(ctx) }:
	default: // as many requests as the channel holds are waiting
	}
}

func (m *Manager) wakeAll(ctx context.Context) {
	for _, p := range m.providers {
		for _, key := range p.keys() {
			if s := p.services[key]; s.problem != "" {
				s.woken = true
				m.look(ctx, p, s)
			}
		}
	}
}

// look looks at a service again that has changed, as often as its pace allows: for its document if it has none, or else for the documents of
// its instances.
func (m *Manager) look(ctx context.Context, p *providerState, s *service) {
	if !s.wanted || s.searching || s.reading || s.waiting || p.services[s.target.key()] != s {
		return
	}
	missing := s.problem != ""
	addresses, next := s.rollout.due(time.Now())
	switch {
	case missing && !s.woken, !missing && (s.location == "" || s.stale):
		return
	case !missing && len(addresses) == 0:
		if !next.IsZero() {
			m.lookAfter(ctx, time.Until(next), p, s)
		}
		return
	}
	if wait := s.pace.take(time.Now()); wait > 0 {
		m.lookAfter(ctx, wait+rand.N(paceEvery/10), p, s)
		return
	}
	s.woken = false
	if missing {
		s.problem, s.retries = "", 0
		m.lookUp(ctx, p, s)
		m.touch()
		return
	}
	m.readInstances(ctx, p, s, addresses)
}

func (m *Manager) lookAfter(ctx context.Context, wait time.Duration, p *providerState, s *service) {
	s.waiting = true
	time.AfterFunc(wait, func() {
		m.post(ctx, func(ctx context.Context) {
			s.waiting = false
			m.look(ctx, p, s)
		})
	})
}

// isAtService reports whether each instance of a service has its document, and not another server or the registry.
func (s *service) isAtService(api string) bool {
	u, err := url.Parse(s.location)
	return err == nil && s.by != byRegistry && !s.target.Shared && u.Host == baseURL(&s.target, api).Host
}

// readInstances reads the documents of instances in a goroutine of its own.
func (m *Manager) readInstances(ctx context.Context, p *providerState, s *service, addresses []string) {
	s.reading = true
	turn, target, slots, atService := s.turn, s.target, p.slots, s.isAtService(apiName(p.d, &s.target.Service))
	r := reader{d: p.d, target: &target, isOnlyOne: p.isOnlyOne(s), location: s.location, known: s.rollout.newest()}
	m.group.Go(func() {
		read := make([]instanceAnswer, len(addresses))
		if atService {
			for i := range read {
				read[i].err = errLookupPanicked
			}
			_, _, _ = slots.run(ctx, true, func(ctx context.Context) (_, _ string, err error) { // its error is that of an instance
				m.o.Step("the documents of instances were read", func() { err = m.readAll(ctx, &r, addresses, read) })
				return "", "", err
			})
		}
		m.post(ctx, func(ctx context.Context) {
			s.reading = false
			if s.turn == turn {
				m.readEnded(ctx, p, s, addresses, read)
			}
			m.look(ctx, p, s)
		})
	})
}

// instanceAnswer is the document of an instance; both fields are nil if the document is elsewhere.
type instanceAnswer struct {
	document *instanceDocument
	err      error
}

// reader is what the documents of the instances of a service are read with.
type reader struct {
	d         *config.Discovery
	target    *Target
	isOnlyOne bool
	location  string
	known     *instanceDocument // the document that counts; nil if it is not known
}

// readAll reads the documents that were not read before, and returns the error of one that can't be read.
func (m *Manager) readAll(ctx context.Context, r *reader, addresses []string, read []instanceAnswer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	for i, address := range addresses {
		if read[i].document == nil {
			read[i].document, read[i].err = m.readInstance(ctx, r, address)
		}
		err = cmp.Or(err, read[i].err)
	}
	return err
}

// readTime is the time that the document of one instance may take, so that one that hangs leaves time for others.
const readTime = lookupTime / 3

// readInstance reads the document of one instance, unless it is the known one.
func (m *Manager) readInstance(ctx context.Context, r *reader, address string) (*instanceDocument, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	api, err := settings(r.d, r.target, apiName(r.d, &r.target.Service), r.location, r.isOnlyOne)
	if err != nil {
		return nil, err
	}
	client, err := m.o.NewClient(&api, []string{address})
	if err != nil {
		return nil, err
	}
	if c, ok := client.(interface{ Close() }); ok {
		defer c.Close()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.location, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", acceptDocument)
	// Not If-Modified-Since: an older version that comes back may have been built before.
	if known := r.known; known != nil && known.tag != "" {
		req.Header.Set("If-None-Match", known.tag)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && r.known != nil && r.known.tag != "":
		return r.known, nil
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return nil, errNoDocument
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("expected status 200, got %d", resp.StatusCode)
	}
	found, err := describeBody(resp.Body, address)
	if err == nil {
		found.tag = resp.Header.Get("ETag")
	}
	return found, err
}

// maxKept is how many operations of all services are kept to compare documents.
const maxKept = 4_000_000

func (m *Manager) kept() (all int) {
	for _, p := range m.providers {
		for _, s := range p.services {
			all += s.rollout.kept
		}
	}
	return all
}

// readEnded takes over the documents of instances.
func (m *Manager) readEnded(ctx context.Context, p *providerState, s *service, addresses []string, read []instanceAnswer) {
	first := s.rollout.newest() == nil
	lacked := s.rollout.lacks()
	for i, address := range addresses {
		switch a := &read[i]; {
		case a.document == nil && a.err == nil: // the reader of the document sees whether it has changed
			s.rollout.elsewhere(address, s.target.Shared, time.Now())
			s.moved, s.came = true, true
		default:
			s.rollout.read(address, a.document, a.err, time.Now())
			s.came = s.came || a.err == nil
			if a.err != nil && !errors.Is(a.err, context.Canceled) {
				m.o.Logger.Debug("document of an instance can't be read", "provider", p.d.Name, "service", s.target.key().String(), "instance", address, "error", a.err)
			}
		}
	}
	s.rollout.kept = s.rollout.share(maxKept - m.kept() + s.rollout.kept)
	versions := s.rollout.versions()
	if s.rollout.choose() && (!first || !s.fresh || len(versions) > 1) {
		s.moved = true // else the document in use is that of all
	}
	s.fresh = false
	if n := len(versions); n > 1 && n != s.rollout.several {
		m.o.Logger.Info("instances of a service have different documents; the newest is in use", "provider", p.d.Name, "service", s.target.key().String(),
			"documents", fmt.Sprint(versions))
	}
	s.rollout.several = len(versions)
	if s.rollout.lacks() && !lacked { // its place may be another one in a new version
		m.lookUp(ctx, p, s)
	}
	m.touch()
}
