package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admin"
)

// newReadyMetric says as a metric what /readyz says to probes: whoever looks at graphs sees a replica that drains, or serves nothing yet,
// apart from one that can't be reached.
func newReadyMetric(status func() admin.Status) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_ready",
		Help: "1 if the gateway is ready, as /readyz says; 0 before an API is served and while it drains."}, func() float64 {
		if status().Ready {
			return 1
		}
		return 0
	})
}
