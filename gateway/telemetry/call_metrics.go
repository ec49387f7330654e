package telemetry

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.opentelemetry.io/otel/trace"

	"drawbridge/gateway/mcp"
	"drawbridge/openapi/drift"
)

// MaxToolLabels bounds the distinct values of the label "tool": further tools are counted as [OtherTools].
const (
	MaxToolLabels = 2000
	OtherTools    = "other"
)

// Metrics are the metrics of the gateway. Labels come from closed sets; sizes are in bytes, times in seconds.
type Metrics struct {
	InFlight prometheus.Gauge // calls of tools that run now
	Panics   prometheus.Counter
	Refused  map[RefusalReason]prometheus.Counter // has all reasons

	requests        *prometheus.CounterVec   // method, era, code
	requestDuration *prometheus.HistogramVec // method
	calls           *prometheus.CounterVec   // api, tool, outcome
	callDuration    *prometheus.HistogramVec // api
	drift           *prometheus.CounterVec   // api, tool
	differences     *prometheus.CounterVec   // api, kind
	reloads         *prometheus.CounterVec   // outcome
	searches        *prometheus.CounterVec   // result
	lists           *listMetrics
	traffic         *trafficMetrics
	apis            *apiMetrics
	results         *resultMetrics
}

// NewMetrics registers the metrics of the gateway with r; version is that of the program.
func NewMetrics(r *prometheus.Registry, version string) *Metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &Metrics{
		traffic: newTrafficMetrics(r, buckets), apis: newAPIMetrics(r), results: newResultMetrics(r), Refused: newRefused(r),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_requests_total",
			Help: "JSON-RPC requests by method, revision family (label era) and error code (0: none)."}, []string{"method", "era", "code"}),
		requestDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drawbridge_request_duration_seconds",
			Help: "Time from the first byte of a request to the last byte of its response.", Buckets: buckets}, []string{"method"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tool_calls_total",
			Help: "Tool calls by outcome."}, []string{"api", "tool", "outcome"}),
		callDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drawbridge_tool_call_duration_seconds",
			Help: "Duration of tool calls that reached the service, until the response was delivered.", Buckets: buckets}, []string{"api"}),
		InFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_tool_calls_in_flight",
			Help: "Tool calls in flight."}),
		drift: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_contract_drift_total",
			Help: "Responses that contradict the document (contract drift)."}, []string{"api", "tool"}),
		differences: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_document_differences_total",
			Help: "Differences between an API and its document by kind: arguments that were refused, and answers that the document does not declare."}, []string{"api", "kind"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_config_reloads_total",
			Help: "Attempts to reload the configuration by outcome: ok, failed, or held because it would grant more access."}, []string{"outcome"}),
		lists: &listMetrics{},
		searches: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tool_searches_total",
			Help: "Searches for tools (search_tools) by result: found, or nothing."}, []string{"result"}),
		Panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_panics_total",
			Help: "Recovered panics. Each is a bug; the log has the stack."}),
	}
	for _, o := range []ReloadOutcome{ReloadOK, ReloadFailed, ReloadHeld} { // the first failure is an increase, not a new series
		m.reloads.WithLabelValues(string(o))
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_build_info", Help: "Always 1; the labels describe the build.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	r.MustRegister(m.requests, m.requestDuration, m.calls, m.callDuration, m.InFlight, m.drift, m.differences, m.reloads, m.searches, m.lists, m.Panics,
		build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// ReloadOutcome says what came of an attempt to reload the configuration.
type ReloadOutcome string

// The outcomes of reloads.
const (
	ReloadOK     ReloadOutcome = "ok"
	ReloadFailed ReloadOutcome = "failed"
	ReloadHeld   ReloadOutcome = "held" // it would open access, and waits for an operator
)

// Reloaded counts an attempt to reload the configuration.
func (m *Metrics) Reloaded(o ReloadOutcome) { m.reloads.WithLabelValues(string(o)).Inc() }

// ToolSearched counts a search for tools.
func (m *Metrics) ToolSearched(found bool) {
	result := "nothing"
	if found {
		result = "found"
	}
	m.searches.WithLabelValues(result).Inc()
}

// request counts an HTTP request to an endpoint.
func (m *Metrics) request(method string, e mcp.Event) {
	era := "unknown"
	switch e.Family {
	case mcp.Stateless:
		era = "modern"
	case mcp.Legacy:
		era = "legacy"
	}
	m.requests.WithLabelValues(method, era, codeLabel(e.Code)).Inc()
	m.traffic.answered(e)
	m.requestDuration.WithLabelValues(method).Observe(e.Duration.Seconds())
}

// codeLabel avoids an allocation for the code of nearly all requests.
func codeLabel(code int) string {
	if code == 0 {
		return "0"
	}
	return strconv.Itoa(code)
}

// CallMetrics are the handles of one plan, looked up once. The common outcome has its own; the others are looked
// up when they happen.
type CallMetrics struct {
	Traffic  APITraffic
	Duration prometheus.Observer // of calls that reached the service
	Results  *ResultTokens

	m         *Metrics
	api, tool string
	ok        prometheus.Counter // nil for one of the gateway's own tools
}

// Call returns the handles of a tool, whose label may be [OtherTools].
func (m *Metrics) Call(api, tool string) CallMetrics {
	return CallMetrics{m: m, api: api, tool: tool,
		ok: m.calls.WithLabelValues(api, tool, string(OutcomeOK)), Duration: m.callDuration.WithLabelValues(api), Traffic: m.traffic.of(api), Results: m.results.of(api)}
}

// OwnCall returns the handles of one of the gateway's own tools, which belongs to no API and sends no requests.
func (m *Metrics) OwnCall(tool string) *CallMetrics {
	return &CallMetrics{m: m, tool: tool}
}

// Label returns the label of the tool, which may be [OtherTools].
func (c *CallMetrics) Label() string { return c.tool }

// Count counts a call.
func (c *CallMetrics) Count(o Outcome) {
	if o == OutcomeOK && c.ok != nil {
		c.ok.Inc()
		return
	}
	c.m.calls.WithLabelValues(c.api, c.tool, string(o)).Inc()
}

// Drift counts an answer that does not fit its document.
func (c *CallMetrics) Drift() { c.m.drift.WithLabelValues(c.api, c.tool).Inc() }

// Drifted counts a difference between an API and its document.
func (m *Metrics) Drifted(api string, kind drift.Kind) {
	m.differences.WithLabelValues(api, string(kind)).Inc()
}

// Forget removes the series of a tool that is no longer served, unless other tools share them, whose handles would be lost. Calls of it that still run
// may bring one back.
func (c *CallMetrics) Forget() {
	if c.tool == OtherTools {
		return
	}
	labels := prometheus.Labels{"api": c.api, "tool": c.tool}
	c.m.calls.DeletePartialMatch(labels)
	c.m.drift.DeletePartialMatch(labels)
}

// Observe observes a time, with the trace of span as an exemplar if that is sampled; span is nil without tracing.
func Observe(o prometheus.Observer, span trace.Span, d time.Duration) {
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
