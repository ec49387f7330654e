package telemetry

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/tokenizer"
)

// resultMetrics are the tokens of the results of calls. They are estimated when they are read, so that calls don't wait for
// a count, and a gateway whose metrics nobody reads counts nothing.
type resultMetrics struct {
	tokens, saved *prometheus.Desc // api

	mu   sync.RWMutex
	apis map[string]*ResultTokens
}

// ResultTokens are the tokens of an API's results.
type ResultTokens struct{ delivered, saved tokenizer.Meter }

func newResultMetrics(r prometheus.Registerer) *resultMetrics {
	api := []string{"api"}
	m := &resultMetrics{
		apis: map[string]*ResultTokens{},
		tokens: prometheus.NewDesc("drawbridge_result_tokens_total",
			"Tokens (o200k_base) of the texts in results of tool calls, errors included: all bytes are counted, and the tokens per byte are estimated from samples.", api, nil),
		saved: prometheus.NewDesc("drawbridge_result_tokens_saved_total",
			"Tokens (o200k_base) that projection and ceilings removed from results of tool calls, estimated from samples like drawbridge_result_tokens_total.", api, nil),
	}
	r.MustRegister(m)
	return m
}

// of returns the tokens of an API's results, which the plans of its tools share.
func (m *resultMetrics) of(api string) *ResultTokens {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.apis[api]
	if t == nil {
		t = &ResultTokens{}
		m.apis[api] = t
	}
	return t
}

func (m *resultMetrics) forget(api string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.apis, api)
}

// Describe implements [prometheus.Collector].
func (m *resultMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.tokens
	ch <- m.saved
}

// Collect implements [prometheus.Collector].
func (m *resultMetrics) Collect(ch chan<- prometheus.Metric) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for api, t := range m.apis {
		ch <- prometheus.MustNewConstMetric(m.tokens, prometheus.CounterValue, float64(t.delivered.Tokens()), api)
		ch <- prometheus.MustNewConstMetric(m.saved, prometheus.CounterValue, float64(t.saved.Tokens()), api)
	}
}

// ResultTotals returns the tokens and bytes of the texts of all results since the start, of the APIs that are served.
func (m *Metrics) ResultTotals() (tokens, bytes int64) {
	m.results.mu.RLock()
	defer m.results.mu.RUnlock()
	for _, t := range m.results.apis {
		tokens += t.delivered.Tokens()
		bytes += t.delivered.Bytes()
	}
	return tokens, bytes
}

// Delivered counts a text of a result that the model reads.
func (t *ResultTokens) Delivered(text []byte) {
	if t != nil {
		t.delivered.Observe(text, len(text))
	}
}

// Projected counts what a projection saved: text was made shorter, to the given number of bytes.
func (t *ResultTokens) Projected(text []byte, bytes int) { t.saved.Observe(text, len(text)-bytes) }
