package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/cache"
	"drawbridge/gateway/telemetry"
	"drawbridge/gateway/upstream"
)

// registerCollectors registers the metrics that are read from the gateway when they are scraped.
func registerCollectors(r prometheus.Registerer, s *served, h *surface, answers *cache.Cache) {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	r.MustRegister(
		telemetry.NewUpstreamCollector(func() map[string]*upstream.Client { return *s.traffic.Load() }),
		telemetry.NewIssuerCollector(s.issuers), telemetry.NewStatusCollector(s.Status, admission.MemoryShare), telemetry.NewDiscoveryCollector(s.discovered),
		gauge("drawbridge_open_streams", "Open notification streams.", func() float64 { return float64(h.mcpHandlers.Streams()) }),
		gauge("drawbridge_unread_lists", "Lists being sent to clients that read slowly.", func() float64 { return float64(h.mcpHandlers.Readers.Count()) }),
		gauge("drawbridge_watched_resources", "Resources polled for subscriptions.", func() float64 { return float64(h.subscriptions.Count()) }),
		gauge("drawbridge_cache_bytes", "Approximate size of the response cache in memory.", func() float64 {
			n, _ := answers.Size()
			return float64(n)
		}),
	)
}
