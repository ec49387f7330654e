package gateway

import (
	"strings"
	"sync"
	"sync/atomic"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/account"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/call"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/driftcount"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/state"
	"drawbridge/gateway/upstream"
)

// served is what is served now, and its state for operators. The publisher alone changes it. It is safe for concurrent use.
type served struct {
	current  atomic.Pointer[generation.Generation]      // the generation in use; nil until the first API is served
	settings atomic.Pointer[generation.RequestSettings] // those of the newest configuration that was in use
	guards   atomic.Pointer[endpoint.MetadataGuards]    // token guards, by metadata path
	identity atomic.Pointer[credential.Identity]        // signs caller identities for services; nil if no API asks for them
	status   atomic.Pointer[admin.Status]
	traffic  atomic.Pointer[traffic] // clients of the services, by API name
	// withAccounts are the services at which callers have accounts.
	withAccounts atomic.Pointer[[]*account.Service]
	draining     atomic.Bool
	serving      chan struct{} // closed when current is set for the first time
	isServed     sync.Once     // closes serving
	shared       *state.Stores
	audit        *audit.Log                 // nil if there is none
	drift        *driftcount.Recorder       // how calls and answers differ from the documents
	score        atomic.Pointer[score]      // the last one
	guard        atomic.Pointer[auth.Guard] // of the newest configuration that was in use; nil if no tokens are required
	// wasAble reports that the gateway has been ready with the issuers of its tokens, whose later outages do not count.
	wasAble atomic.Bool
	// discovered returns what the providers of services have found.
	discovered func() *discovery.Snapshot
}

func newServed() *served {
	s := &served{serving: make(chan struct{}), discovered: func() *discovery.Snapshot { return &discovery.Snapshot{} }}
	s.traffic.Store(&traffic{})
	return s
}

// Serving returns a channel that is closed as soon as the first API is served.
func (s *served) Serving() <-chan struct{} { return s.serving }

// Drain makes the gateway report itself as not ready and ask clients to close their connections. Calls are still
// served; the process stops listening once load balancers have noticed.
func (s *served) Drain() { s.draining.Store(true) }

// requestSettings returns the settings that apply to requests now: those of the generation that serves them, if there is one.
func (s *served) requestSettings() *generation.RequestSettings {
	if gen := s.current.Load(); gen != nil {
		return gen.Settings
	}
	return s.settings.Load()
}

// endpoints returns the endpoints that are served now, with the screening of requests to them.
func (s *served) endpoints() *endpoint.Table {
	if gen := s.current.Load(); gen != nil {
		return gen.Table
	}
	return s.settings.Load().Table
}

// callEndpoint returns what calls need of the endpoint of that name; nil if there is none.
func (s *served) callEndpoint(name string) *call.Endpoint {
	if e := s.endpoints().Lookup(name); e != nil {
		return e.Endpoint
	}
	return nil
}

// resources returns what reads of resources need of the endpoint of that name; nil if there is none.
func (s *served) resources(name string) *resource.View {
	if e := s.endpoints().Lookup(name); e != nil {
		return e.View.View
	}
	return nil
}

// Config returns the configuration in use: that of the last reload, except for settings that are read only at the start.
func (s *served) Config() *config.Config { return s.requestSettings().Config }

// base returns the URL at which clients and services reach the gateway now, without a path of its own.
func (s *served) base() string { return strings.TrimSuffix(s.Config().Resource(), "/mcp") }

// issuers returns the state of the token issuers; nil if no tokens are required.
func (s *served) issuers() []auth.Status {
	if guard := s.guard.Load(); guard != nil {
		return guard.Status()
	}
	return nil
}

// traffic maps the names of APIs to the clients of their calls. An API whose servers claims select has a client for each of them, the
// further ones with the selection behind the name.
type traffic map[string]*upstream.Client

// trafficOf returns the traffic of a deployment. Only the goroutine that publishes calls it.
func trafficOf(d *generation.Deployment) *traffic {
	t := traffic{}
	for _, s := range d.APIs.Sources {
		if s.Document != nil {
			t[s.Name] = s.Document.Client
			if servers := s.Servers(); servers != nil {
				for _, server := range servers.All()[1:] {
					t[s.Name+" "+servers.Selection(server)] = server.Document.Client
				}
			}
		}
	}
	return &t
}

// describe adds the state of the API's circuit breaker.
func (t traffic) describe(a *admin.API) {
	worst := upstream.Closed
	for name, client := range t {
		if name == a.Name || strings.HasPrefix(name, a.Name+" ") {
			worst = max(worst, client.State())
		}
	}
	if worst != upstream.Closed {
		a.Breaker = worst.String()
	}
}
