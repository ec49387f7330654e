package source

import (
	"fmt"
	"net/http"

	"drawbridge/config"
)

// Probe sends the requests that look for the document of a discovered service, as its document would be fetched: with the
// same credential, and to the same addresses.
type Probe struct {
	*http.Client
	close func()
}

// NewProbe returns the client that looks for the document of an API at these instances. Nothing of callers is sent: there is none.
func NewProbe(deps *Deps, api *config.API, instances []string, limits config.Limits) (*Probe, error) {
	own := *api
	own.Identity, own.PassHeaders = nil, nil
	apart := *deps
	apart.Instances = func(config.ServiceID) func() []string { return func() []string { return instances } }
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
