package source

import (
	"fmt"
	"net/http"

	"drawbridge/config"
)

// Probe is the HTTP client that looks for the document of a discovered service. It uses the same credential and address rules
// as a fetch of the document.
type Probe struct {
	*http.Client
	close func()
}

// NewProbe returns the client for the document of an API at these instances. It sends no headers or identity of callers.
func NewProbe(deps *Deps, api *config.API, instances []string, limits config.Limits) (*Probe, error) {
	own := *api
	own.Identity, own.PassHeaders = nil, nil
	apart := *deps
	apart.Instances = func(config.ServiceID) Instances { return fixedInstances(instances) }
	s, err := newSource(&apart, authOptions{
		api: own, limits: limits.OfSources(), now: deps.Now, panicked: deps.Panicked,
		wrong: func(key string, err error) error { return fmt.Errorf("%s: %w", key, err) },
	})
	if err != nil {
		return nil, err
	}
	client := s.clients.documents.Documents()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Probe{client, s.clients.close}, nil
}

// Close closes the idle connections.
func (p *Probe) Close() { p.close() }

// fixedInstances are instances that don't change.
type fixedInstances []string

// Load implements [Instances].
func (f fixedInstances) Load() []string { return f }

// Documents implements [Instances].
func (f fixedInstances) Documents() []string { return f }

// Having implements [Instances].
func (f fixedInstances) Having(string) []string { return nil }

// Own implements [Instances].
func (f fixedInstances) Own(string) bool { return false }

// Moved implements [Instances].
func (f fixedInstances) Moved() <-chan struct{} { return nil }

// Came implements [Instances].
func (f fixedInstances) Came() <-chan struct{} { return nil }
