package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/auth"
)

// issuerCollector reads the state of the issuers of tokens when the metrics are scraped.
type issuerCollector struct {
	status        func() []auth.Status
	keys, fetched *prometheus.Desc
}

// NewIssuerCollector returns a collector of the state of issuers.
func NewIssuerCollector(status func() []auth.Status) prometheus.Collector {
	return &issuerCollector{status: status,
		keys: prometheus.NewDesc("drawbridge_issuer_keys", "Usable keys of an issuer of tokens; opaque tokens need none.", []string{"issuer"}, nil),
		fetched: prometheus.NewDesc("drawbridge_issuer_fetched_timestamp_seconds",
			"When an issuer's keys, or for opaque tokens its metadata, were last fetched; 0: never. There is none where the configuration says where to ask.", []string{"issuer"}, nil)}
}

// Describe implements [prometheus.Collector].
func (m *issuerCollector) Describe(c chan<- *prometheus.Desc) { c <- m.keys; c <- m.fetched }

// Collect implements [prometheus.Collector].
func (m *issuerCollector) Collect(c chan<- prometheus.Metric) {
	for _, s := range m.status() {
		c <- prometheus.MustNewConstMetric(m.keys, prometheus.GaugeValue, float64(s.Keys), s.Issuer)
		if s.Fixed { // an age without a fetch would be an alert that never ends
			continue
		}
		at := 0.0
		if !s.Fetched.IsZero() {
			at = float64(s.Fetched.UnixMilli()) / 1000
		}
		c <- prometheus.MustNewConstMetric(m.fetched, prometheus.GaugeValue, at, s.Issuer)
	}
}
