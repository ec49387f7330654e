package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/upstream"
)

// upstreamCollector reads the state of the clients for services when the metrics are scraped, so that no series outlives its API, and a breaker
// whose pause is over without a call is shown as half open.
type upstreamCollector struct {
	clients                                     func() map[string]*upstream.Client
	breaker, inFlight, queued, retries, ejected *prometheus.Desc
}

// NewUpstreamCollector returns a collector of breakers, calls in flight and retries; clients returns the clients by the names of their APIs.
func NewUpstreamCollector(clients func() map[string]*upstream.Client) prometheus.Collector {
	api := []string{"api"}
	return &upstreamCollector{
		clients: clients,
		breaker: prometheus.NewDesc("drawbridge_breaker_state",
			"1 for the state in which the API's breaker is: closed, half_open or open. Of several hosts, the worst counts.", []string{"api", "state"}, nil),
		inFlight: prometheus.NewDesc("drawbridge_api_calls_in_flight", "Calls to the API's service that are under way.", api, nil),
		queued:   prometheus.NewDesc("drawbridge_api_calls_queued", "Calls that wait for one of these to end.", api, nil),
		retries: prometheus.NewDesc("drawbridge_retries_total",
			"Requests that were sent again, by what became of the first: 429, 502, 503, 504, connect, truncated or unprocessed.", []string{"api", "reason"}, nil),
		ejected: prometheus.NewDesc("drawbridge_instances_ejected",
			"Instances of the API's service that get no calls for a while, because nothing could connect to them or calls to them fail.", api, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *upstreamCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.breaker
	ch <- m.inFlight
	ch <- m.queued
	ch <- m.retries
	ch <- m.ejected
}

// Collect implements [prometheus.Collector].
func (m *upstreamCollector) Collect(ch chan<- prometheus.Metric) {
	for api, client := range m.clients() {
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
		if n, ok := client.Ejected(); ok {
			ch <- prometheus.MustNewConstMetric(m.ejected, prometheus.GaugeValue, float64(n), api)
		}
		for reason, n := range client.Retried() {
			ch <- prometheus.MustNewConstMetric(m.retries, prometheus.CounterValue, float64(n), api, reason)
		}
	}
}
