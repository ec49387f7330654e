package telemetry

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// listMetrics are the tokens of the lists of tools. They are counted when they are read: counting takes a vocabulary that a
// gateway without a reader need not load.
type listMetrics struct {
	tokens atomic.Pointer[map[string]func() int] // by the paths of endpoints; nil before the first list
}

var listTokens = prometheus.NewDesc("drawbridge_list_tokens",
	"Tokens (o200k_base) of the list of tools of an endpoint, before anything is hidden from a caller; an estimate above list_budget.",
	[]string{"endpoint"}, nil)

// Describe implements [prometheus.Collector].
func (*listMetrics) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- listTokens }

// Collect implements [prometheus.Collector].
func (l *listMetrics) Collect(metrics chan<- prometheus.Metric) {
	if lists := l.tokens.Load(); lists != nil {
		for endpoint, tokens := range *lists {
			metrics <- prometheus.MustNewConstMetric(listTokens, prometheus.GaugeValue, float64(tokens()), endpoint)
		}
	}
}

// SetLists replaces the lists of tools: the functions return their tokens, by the paths of their endpoints.
func (m *Metrics) SetLists(tokens map[string]func() int) { m.lists.tokens.Store(&tokens) }
