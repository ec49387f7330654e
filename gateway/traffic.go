package gateway

import (
	"drawbridge/gateway/admin"
	"drawbridge/gateway/upstream"
)

// traffic maps the names of APIs to the clients of their calls.
type traffic map[string]*upstream.Client

// trafficOf returns the traffic of a deployment. Only the goroutine that publishes calls it.
func trafficOf(d *deployment) *traffic {
	t := traffic{}
	for _, s := range d.apis.Sources {
		if s.Document != nil {
			t[s.Name] = s.Document.Client
		}
	}
	return &t
}

// describe adds the state of the API's circuit breaker.
func (t traffic) describe(a *admin.API) {
	if client := t[a.Name]; client != nil && client.State() != upstream.Closed {
		a.Breaker = client.State().String()
	}
}
