package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/discovery"
)

// discoveryCollector reports what providers of services have found. Its labels are names of the configuration; those of services are
// chosen by whoever registers them, and are in no metric.
type discoveryCollector struct {
	snapshot              func() *discovery.Snapshot
	services, up, updated *prometheus.Desc
}

// NewDiscoveryCollector returns a collector of the state of the providers of services.
func NewDiscoveryCollector(snapshot func() *discovery.Snapshot) prometheus.Collector {
	return &discoveryCollector{snapshot: snapshot,
		services: prometheus.NewDesc("drawbridge_discovery_services",
			"Services of a provider by what became of them: served, searching, missing, held, refused, lost.", []string{"provider", "state"}, nil),
		up: prometheus.NewDesc("drawbridge_discovery_up",
			"1 if the last attempt to read the registry of a provider succeeded as a whole.", []string{"provider"}, nil),
		updated: prometheus.NewDesc("drawbridge_discovery_updated_timestamp_seconds",
			"When the registry of a provider last answered, in Unix time; absent before it does.", []string{"provider"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *discoveryCollector) Describe(c chan<- *prometheus.Desc) {
	c <- m.services
	c <- m.up
	c <- m.updated
}

// Collect implements [prometheus.Collector].
func (m *discoveryCollector) Collect(c chan<- prometheus.Metric) {
	s := m.snapshot()
	type state struct {
		provider string
		state    discovery.State
	}
	counts := map[state]float64{}
	for i := range s.Services {
		counts[state{s.Services[i].Provider, s.Services[i].State}]++
	}
	for _, p := range s.Providers {
		for _, of := range discovery.States() {
			c <- prometheus.MustNewConstMetric(m.services, prometheus.GaugeValue, counts[state{p.Name, of}], p.Name, string(of))
		}
		up := 1.0
		if p.Error != "" || p.Updated.IsZero() {
			up = 0
		}
		c <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, up, p.Name)
		if !p.Updated.IsZero() {
			c <- prometheus.MustNewConstMetric(m.updated, prometheus.GaugeValue, float64(p.Updated.UnixMilli())/1000, p.Name)
		}
	}
}
