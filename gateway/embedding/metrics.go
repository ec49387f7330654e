package embedding

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/upstream"
)

// outcome is the outcome of a request for vectors. The set is closed.
type outcome string

const (
	outcomeOK       outcome = "ok"
	outcomeTimeout  outcome = "timeout"
	outcomeFailed   outcome = "failed"   // no connection, or another status
	outcomeRejected outcome = "rejected" // the server rejected the text
	outcomeInvalid  outcome = "invalid"  // wrong dimensions, or an invalid response
	outcomeCanceled outcome = "canceled" // the caller has left
	outcomePaused   outcome = "paused"   // nothing was sent, because earlier requests failed
	outcomeBusy     outcome = "busy"     // nothing was sent, because too many queries wait
	outcomeNone     outcome = "none"     // nothing was sent, because no tool has a vector yet
)

func outcomeOf(err error) outcome {
	var failed *upstream.Error
	switch {
	case err == nil:
		return outcomeOK
	case errors.Is(err, errRejected):
		return outcomeRejected
	case errors.Is(err, errInvalid):
		return outcomeInvalid
	case errors.As(err, &failed) && failed.Kind == upstream.TooLarge:
		return outcomeInvalid
	case errors.As(err, &failed) && failed.Kind == upstream.Timeout, errors.Is(err, context.DeadlineExceeded):
		return outcomeTimeout
	case errors.As(err, &failed) && failed.Kind == upstream.Canceled, errors.Is(err, context.Canceled):
		return outcomeCanceled
	}
	return outcomeFailed
}

// metrics are the metrics of an [Embedder].
type metrics struct {
	queries *prometheus.CounterVec // outcome
	batches *prometheus.CounterVec // outcome
	tools   *prometheus.GaugeVec   // state
}

func newMetrics(r prometheus.Registerer) *metrics {
	m := &metrics{
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_embedding_queries_total",
			Help: "Searches for tools with search.embeddings by outcome of the query's embedding: ok, or why words alone decided."}, []string{"outcome"}),
		batches: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_embedding_batches_total",
			Help: "Requests for the embeddings of tools by outcome."}, []string{"outcome"}),
		tools: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_embedding_tools",
			Help: "Tools by whether their embedding is there: embedded, or missing; both 0 without search.embeddings."}, []string{"state"}),
	}
	for _, o := range []outcome{outcomeOK, outcomeTimeout, outcomeFailed, outcomeRejected, outcomeInvalid} {
		m.queries.WithLabelValues(string(o))
		m.batches.WithLabelValues(string(o))
	}
	for _, o := range []outcome{outcomeCanceled, outcomePaused, outcomeBusy, outcomeNone} {
		m.queries.WithLabelValues(string(o))
	}
	m.counted(0, 0)
	r.MustRegister(m.queries, m.batches, m.tools)
	return m
}

func (m *metrics) counted(embedded, missing int) {
	m.tools.WithLabelValues("embedded").Set(float64(embedded))
	m.tools.WithLabelValues("missing").Set(float64(missing))
}
