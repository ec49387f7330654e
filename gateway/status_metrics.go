package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admin"
)

// toldMetrics say to Prometheus what the gateway says of itself elsewhere: to probes, to operators, and to callers that it sends away.
// An alert that reckons by itself would differ from what is done.
type toldMetrics struct {
	status                       func() admin.Status
	ready, refused, held, memory *prometheus.Desc
}

func newToldMetrics(status func() admin.Status) *toldMetrics {
	return &toldMetrics{status: status,
		ready: prometheus.NewDesc("drawbridge_ready",
			"1 if the gateway is ready, as /readyz says; 0 before an API is served, or all that server.ready waits for, and while it drains.", nil, nil),
		refused: prometheus.NewDesc("drawbridge_config_refused",
			"1 while the newest configuration was refused and the one before it is in use.", nil, nil),
		held: prometheus.NewDesc("drawbridge_config_held",
			"1 while a newer configuration would open access and waits for somebody to accept it: the one before it is in use.", nil, nil),
		memory: prometheus.NewDesc("drawbridge_memory_used_ratio",
			"What the process needs of its limit of memory (GOMEMLIMIT), as it reckons itself; above 0.85 it refuses calls and streams. 0: it has no limit.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *toldMetrics) Describe(c chan<- *prometheus.Desc) {
	c <- m.ready
	c <- m.refused
	c <- m.held
	c <- m.memory
}

// Collect implements [prometheus.Collector].
func (m *toldMetrics) Collect(c chan<- prometheus.Metric) {
	s := m.status()
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	c <- prometheus.MustNewConstMetric(m.ready, prometheus.GaugeValue, is(s.Ready))
	c <- prometheus.MustNewConstMetric(m.refused, prometheus.GaugeValue, is(s.Config.Error != ""))
	c <- prometheus.MustNewConstMetric(m.held, prometheus.GaugeValue, is(len(s.Config.Opens) > 0))
	c <- prometheus.MustNewConstMetric(m.memory, prometheus.GaugeValue, readMemory().share())
}
