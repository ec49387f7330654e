package gateway

import (
	"time"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/upstream"
)

// protect sets the bulkhead, circuit breaker and retry options of the API's client.
func (s *source) protect(o *upstream.Options) {
	c := s.config
	o.Bulkhead = upstream.Bulkhead{InFlight: c.MaxInFlight, Queued: c.MaxQueued, Wait: time.Duration(c.QueueTimeout)}
	if !c.Breaker.Off() {
		o.Breaker = upstream.Breaker{
			Failures: c.Breaker.Failures, Calls: c.Breaker.Calls, Window: time.Duration(c.Breaker.Window),
			Pause: time.Duration(c.Breaker.Pause), Probes: c.Breaker.Probes, AllErrors: c.Breaker.Errors == config.ErrorsAll,
		}
	}
	if !c.Retries.Off() {
		o.Retries = upstream.Retries{Max: c.Retries.Max, Budget: c.Retries.Budget}
	}
	log, name, pause := s.g.log, o.Name, o.Breaker.Pause
	o.OnStateChange = func(host string, from, to upstream.State) {
		switch to {
		case upstream.Open:
			log.Warn("a service fails, so no calls are sent to it for a while", "api", name, "host", host, "from", from.String(), "pause", pause.String())
		case upstream.HalfOpen:
			log.Info("a service that failed gets calls again, to see whether it is well", "api", name, "host", host)
		case upstream.Closed:
			log.Info("a service that failed is well again", "api", name, "host", host)
		}
	}
}

// traffic maps the names of APIs to the clients of their calls.
type traffic map[string]*upstream.Client

// trafficOf returns the traffic of a deployment. Only the goroutine that publishes calls it.
func trafficOf(d *deployment) *traffic {
	t := traffic{}
	for _, s := range d.sources {
		if s.loaded != nil {
			t[s.name] = s.loaded.client
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
