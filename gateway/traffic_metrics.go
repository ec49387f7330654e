package gateway

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/mcp"
)

// flow are the metrics of what goes in and out, on both sides of the gateway. Labels are APIs of the configuration, known HTTP
// statuses, and the reasons that auth has.
type flow struct {
	answers       *prometheus.CounterVec // status
	requestBytes  prometheus.Counter
	answerBytes   prometheus.Counter
	refusedTokens *prometheus.CounterVec   // reason
	responses     *prometheus.CounterVec   // api, status
	wait          *prometheus.HistogramVec // api
	sent          *prometheus.CounterVec   // api
	received      *prometheus.CounterVec   // api
	documents     *prometheus.GaugeVec     // api
	memory        *prometheus.GaugeVec     // api
	memoryLimit   prometheus.Gauge
}

func newFlow(r *prometheus.Registry, buckets []float64) *flow {
	m := &flow{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_http_answers_total",
			Help: "Answers to clients that had been let in, by HTTP status."}, []string{"status"}),
		requestBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_http_request_bytes_total",
			Help: "Bytes of the bodies of clients' requests."}),
		answerBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_http_answer_bytes_total",
			Help: "Bytes of the bodies of answers to clients, as they were on the wire."}),
		refusedTokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tokens_refused_total",
			Help: "Requests that were not let in for want of a good token, by reason."}, []string{"reason"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_service_responses_total",
			Help: "Answers of services by HTTP status; other: one that is not registered."}, []string{"api", "status"}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drawbridge_service_wait_seconds",
			Help: "Time from a call's request to the head of the service's answer, with queues and repetitions.", Buckets: buckets}, []string{"api"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_service_sent_bytes_total",
			Help: "Bytes of the bodies of requests to services, as far as their length is known beforehand."}, []string{"api"}),
		received: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_service_received_bytes_total",
			Help: "Bytes of the bodies of services' answers, after decompression."}, []string{"api"}),
		documents: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_document_loaded_timestamp_seconds",
			Help: "When the document whose tools are served was read."}, []string{"api"}),
		memory: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_document_memory_bytes",
			Help: "About how much memory what was made of the document takes whose tools are served."}, []string{"api"}),
		memoryLimit: prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_document_memory_limit_bytes",
			Help: "How much memory what was made of all documents may take: a third of GOMEMLIMIT; 0: any."}),
	}
	r.MustRegister(m.answers, m.requestBytes, m.answerBytes, m.refusedTokens, m.responses, m.wait, m.sent, m.received, m.documents, m.memory, m.memoryLimit)
	return m
}

// forget removes the series of an API that is no longer served.
func (m *flow) forget(api string) {
	labels := prometheus.Labels{"api": api}
	for _, vec := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.responses, m.wait, m.sent, m.received, m.documents, m.memory} {
		vec.DeletePartialMatch(labels)
	}
}

// loaded shows the age of the document whose tools are served, and its memory.
func (m *flow) loaded(a admin.API) {
	if a.LoadedAt == nil {
		m.documents.DeleteLabelValues(a.Name)
		m.memory.DeleteLabelValues(a.Name)
		return
	}
	m.documents.WithLabelValues(a.Name).Set(float64(a.LoadedAt.Unix()))
	m.memory.WithLabelValues(a.Name).Set(float64(a.MemoryBytes))
}

// answered counts an answer to a client.
func (m *flow) answered(e mcp.Event) {
	m.answers.WithLabelValues(statusLabel(e.HTTPStatus)).Inc()
	m.requestBytes.Add(float64(e.RequestBytes))
	m.answerBytes.Add(float64(e.ResponseBytes))
}

// reasonWord makes a label of a reason why a request has no good token, which is one of a closed set of auth.
func reasonWord(reason string) string {
	word := strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, reason)
	return strings.ReplaceAll(word, "__", "_")
}

// statusLabel returns the label of an HTTP status without an allocation for the usual ones. Services can answer any number.
func statusLabel(status int) string {
	switch status {
	case http.StatusOK:
		return "200"
	case http.StatusAccepted:
		return "202"
	case http.StatusNoContent:
		return "204"
	case http.StatusNotFound:
		return "404"
	}
	if http.StatusText(status) == "" {
		return "other"
	}
	return strconv.Itoa(status)
}

// apiFlow are the handles of one API, looked up once.
type apiFlow struct {
	all            *flow
	api            string
	ok             prometheus.Counter
	wait           prometheus.Observer
	sent, received prometheus.Counter
}

func (m *flow) of(api string) apiFlow {
	return apiFlow{all: m, api: api, ok: m.responses.WithLabelValues(api, "200"), wait: m.wait.WithLabelValues(api),
		sent: m.sent.WithLabelValues(api), received: m.received.WithLabelValues(api)}
}

// exchanged counts what was sent of the bodies of requests, and the head of the answer; nil: there was none.
func (a *apiFlow) exchanged(sent int64, resp *http.Response) {
	if sent > 0 {
		a.sent.Add(float64(sent))
	}
	switch {
	case resp == nil:
	case resp.StatusCode == http.StatusOK:
		a.ok.Inc()
	default:
		a.all.responses.WithLabelValues(a.api, statusLabel(resp.StatusCode)).Inc()
	}
}

// receivedBy is a body that knows how much of it was read.
type receivedBy interface{ Received() int64 }

// observe observes a time, with the trace in which it passed as an example, if that is kept.
func observe(o prometheus.Observer, span trace.Span, d time.Duration) {
	if span != nil {
		if c := span.SpanContext(); c.IsSampled() {
			if with, ok := o.(prometheus.ExemplarObserver); ok {
				with.ObserveWithExemplar(d.Seconds(), prometheus.Labels{"trace_id": c.TraceID().String()})
				return
			}
		}
	}
	o.Observe(d.Seconds())
}

// issuerMetrics tells of the issuers of tokens what is known when somebody asks.
type issuerMetrics struct {
	g             *Gateway
	keys, fetched *prometheus.Desc
}

func newIssuerMetrics(g *Gateway) *issuerMetrics {
	return &issuerMetrics{g: g,
		keys: prometheus.NewDesc("drawbridge_issuer_keys", "Usable keys of an issuer of tokens; opaque tokens need none.", []string{"issuer"}, nil),
		fetched: prometheus.NewDesc("drawbridge_issuer_fetched_timestamp_seconds",
			"When an issuer's keys, or for opaque tokens its metadata, were last fetched; 0: never. There is none where the configuration says where to ask.", []string{"issuer"}, nil)}
}

// Describe implements [prometheus.Collector].
func (m *issuerMetrics) Describe(c chan<- *prometheus.Desc) { c <- m.keys; c <- m.fetched }

// Collect implements [prometheus.Collector].
func (m *issuerMetrics) Collect(c chan<- prometheus.Metric) {
	gen := m.g.current.Load()
	if gen == nil || gen.whole.guard == nil {
		return
	}
	for _, s := range gen.whole.guard.Status() {
		c <- prometheus.MustNewConstMetric(m.keys, prometheus.GaugeValue, float64(s.Keys), s.Issuer)
		if s.Fixed { // an age of something that is never fetched would be an alert that never ends
			continue
		}
		at := 0.0
		if !s.Fetched.IsZero() {
			at = float64(s.Fetched.UnixMilli()) / 1000
		}
		c <- prometheus.MustNewConstMetric(m.fetched, prometheus.GaugeValue, at, s.Issuer)
	}
}
