package telemetry

import (
	"net/http"
	"strconv"
	"strings"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/mcp"
)

// trafficMetrics are the metrics of traffic on both sides of the gateway. Labels are APIs of the configuration, known HTTP
// statuses, and the reasons that auth has.
type trafficMetrics struct {
	answers       *prometheus.CounterVec // status
	requestBytes  prometheus.Counter
	answerBytes   prometheus.Counter
	refusedTokens *prometheus.CounterVec   // reason
	responses     *prometheus.CounterVec   // api, status
	wait          *prometheus.HistogramVec // api
	sent          *prometheus.CounterVec   // api
	received      *prometheus.CounterVec   // api
}

func newTrafficMetrics(r prometheus.Registerer, buckets []float64) *trafficMetrics {
	m := &trafficMetrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_http_answers_total",
			Help: "Responses to authenticated requests, by HTTP status."}, []string{"status"}),
		requestBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_http_request_bytes_total",
			Help: "Bytes of request bodies received from clients."}),
		answerBytes: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_http_answer_bytes_total",
			Help: "Bytes of response bodies sent to clients, as on the wire."}),
		refusedTokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tokens_refused_total",
			Help: "Requests rejected for lack of a valid token, by reason."}, []string{"reason"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_service_responses_total",
			Help: "Responses of services by HTTP status; other: a status that is not registered."}, []string{"api", "status"}),
		wait: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drawbridge_service_wait_seconds",
			Help: "Time from a call's request to the response header of the service, including queueing and retries.", Buckets: buckets}, []string{"api"}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_service_sent_bytes_total",
			Help: "Bytes of request bodies sent to services, if their length is known in advance."}, []string{"api"}),
		received: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_service_received_bytes_total",
			Help: "Bytes of response bodies received from services, after decompression."}, []string{"api"}),
	}
	r.MustRegister(m.answers, m.requestBytes, m.answerBytes, m.refusedTokens, m.responses, m.wait, m.sent, m.received)
	return m
}

// answered counts an answer to a client.
func (m *trafficMetrics) answered(e mcp.Event) {
	m.answers.WithLabelValues(statusLabel(e.HTTPStatus)).Inc()
	m.requestBytes.Add(float64(e.RequestBytes))
	m.answerBytes.Add(float64(e.ResponseBytes))
}

// TokenRefused counts a request without a good token, by the label of [ReasonLabel].
func (m *Metrics) TokenRefused(label string) { m.traffic.refusedTokens.WithLabelValues(label).Inc() }

// ReasonLabel makes a label of a reason why a request has no good token, which is one of a closed set of auth.
func ReasonLabel(reason string) string {
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

// APITraffic are the handles of one API, looked up once.
type APITraffic struct {
	Wait prometheus.Observer // from the request to the head of the answer

	all            *trafficMetrics
	api            string
	ok             prometheus.Counter
	sent, received prometheus.Counter
}

func (m *trafficMetrics) of(api string) APITraffic {
	return APITraffic{all: m, api: api, ok: m.responses.WithLabelValues(api, "200"), Wait: m.wait.WithLabelValues(api),
		sent: m.sent.WithLabelValues(api), received: m.received.WithLabelValues(api)}
}

// Exchanged counts the bytes of the bodies of requests, and the head of the answer; resp is nil if there was none.
func (a *APITraffic) Exchanged(sent int64, resp *http.Response) {
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

// Received counts the bytes of the body of an answer.
func (a *APITraffic) Received(n int64) { a.received.Add(float64(n)) }
