package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admin"
)

// statusCollector reports to Prometheus the state that the gateway reports to probes and operators, and by which it refuses callers, since
// an alert with a calculation of its own would differ from what the gateway does.
type statusCollector struct {
	memoryUsed                                  func() float64
	status                                      func() admin.Status
	ready, unready, hash, refused, held, memory *prometheus.Desc
}

// NewStatusCollector returns a collector of the state of the gateway; memoryUsed returns how much of the memory limit is used, from 0 to 1.
func NewStatusCollector(status func() admin.Status, memoryUsed func() float64) prometheus.Collector {
	return &statusCollector{status: status, memoryUsed: memoryUsed,
		ready: prometheus.NewDesc("drawbridge_ready",
			"1 if the gateway is ready, as /readyz says; if it is 0, drawbridge_unready has the reason.", nil, nil),
		unready: prometheus.NewDesc("drawbridge_unready",
			"1 while the gateway is not ready for that reason: apis, issuers (no token can be verified), audit (records can't be written) or draining.", []string{"reason"}, nil),
		hash: prometheus.NewDesc("drawbridge_config_hash",
			"A number that is the same at replicas with the same configuration and the same seal keys. Keys that differ between replicas, such as server.listen, don't count.", nil, nil),
		refused: prometheus.NewDesc("drawbridge_config_refused",
			"1 while the newest configuration was refused and the one before it is in use.", nil, nil),
		held: prometheus.NewDesc("drawbridge_config_held",
			"1 while a newer configuration that widens access is held until it is accepted; the previous one is in use.", nil, nil),
		memory: prometheus.NewDesc("drawbridge_memory_used_ratio",
			"Share of the memory limit (GOMEMLIMIT) in use, as estimated by the process; above 0.85 it rejects calls and streams. 0: no limit.", nil, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *statusCollector) Describe(c chan<- *prometheus.Desc) {
	c <- m.ready
	c <- m.unready
	c <- m.hash
	c <- m.refused
	c <- m.held
	c <- m.memory
}

// Collect implements [prometheus.Collector].
func (m *statusCollector) Collect(c chan<- prometheus.Metric) {
	s := m.status()
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	c <- prometheus.MustNewConstMetric(m.ready, prometheus.GaugeValue, is(s.Ready))
	for reason, holds := range map[string]bool{
		"draining": s.Draining, "issuers": s.NotReady == admin.NoIssuer, "audit": s.NotReady == admin.NoAudit,
		"apis": !s.Ready && !s.Draining && s.NotReady == "",
	} {
		c <- prometheus.MustNewConstMetric(m.unready, prometheus.GaugeValue, is(holds), reason)
	}
	c <- prometheus.MustNewConstMetric(m.hash, prometheus.GaugeValue, float64(s.Config.Hash))
	c <- prometheus.MustNewConstMetric(m.refused, prometheus.GaugeValue, is(s.Config.Error != ""))
	c <- prometheus.MustNewConstMetric(m.held, prometheus.GaugeValue, is(len(s.Config.Opens) > 0))
	c <- prometheus.MustNewConstMetric(m.memory, prometheus.GaugeValue, m.memoryUsed())
}
