package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/upstream"
)

// protect says what a service is spared, and what its callers are.
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

// traffic is through which clients the calls of the APIs go, by the names of the APIs.
type traffic map[string]*upstream.Client

// trafficOf returns the traffic of a deployment. It is for the goroutine that publishes.
func trafficOf(d *deployment) *traffic {
	t := traffic{}
	for _, s := range d.sources {
		if s.loaded != nil {
			t[s.name] = s.loaded.client
		}
	}
	return &t
}

// describe adds to the state of an API where its breaker stands.
func (t traffic) describe(a *admin.API) {
	if client := t[a.Name]; client != nil && client.State() != upstream.Closed {
		a.Breaker = client.State().String()
	}
}

// trafficMetrics reads what the clients know when somebody asks, so that no series outlives its API, and a breaker whose pause is
// over without a call is shown as what it is.
type trafficMetrics struct {
	current                            func() traffic
	breaker, inFlight, queued, retries *prometheus.Desc
}

func newTrafficMetrics(current func() traffic) *trafficMetrics {
	api := []string{"api"}
	return &trafficMetrics{
		current: current,
		breaker: prometheus.NewDesc("drawbridge_breaker_state",
			"1 for the state in which the API's breaker is: closed, half_open or open. Of several hosts, the worst counts.", []string{"api", "state"}, nil),
		inFlight: prometheus.NewDesc("drawbridge_api_calls_in_flight", "Calls to the API's service that are under way.", api, nil),
		queued:   prometheus.NewDesc("drawbridge_api_calls_queued", "Calls that wait for one of these to end.", api, nil),
		retries: prometheus.NewDesc("drawbridge_retries_total",
			"Requests that were sent again, by what became of the first: 429, 502, 503, 504, connect, truncated or unprocessed.", []string{"api", "reason"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *trafficMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.breaker
	ch <- m.inFlight
	ch <- m.queued
	ch <- m.retries
}

// Collect implements [prometheus.Collector].
func (m *trafficMetrics) Collect(ch chan<- prometheus.Metric) {
	for api, client := range m.current() {
		now := client.State()
		for _, state := range upstream.States() {
			v := 0.0
			if state == now {
				v = 1
			}
			ch <- prometheus.MustNewConstMetric(m.breaker, prometheus.GaugeValue, v, api, state.String())
		}
		inFlight, queued := client.Load()
		ch <- prometheus.MustNewConstMetric(m.inFlight, prometheus.GaugeValue, float64(inFlight), api)
		ch <- prometheus.MustNewConstMetric(m.queued, prometheus.GaugeValue, float64(queued), api)
		for reason, n := range client.Retried() {
			ch <- prometheus.MustNewConstMetric(m.retries, prometheus.CounterValue, float64(n), api, reason)
		}
	}
}
