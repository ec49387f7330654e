package gateway

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"drawbridge/gateway/admin"
	"drawbridge/gateway/mcp"
)

// maxToolLabels bounds the distinct values of the label "tool": what comes after them is counted as otherTools.
const (
	maxToolLabels = 2000
	otherTools    = "other"
)

// outcome is how a call of a tool ended. The set is closed, so that it can label a metric; the kinds of
// [drawbridge/gateway/upstream.Error] belong to it too.
type outcome string

const (
	outcomeOK          outcome = "ok"
	outcomeRedirect    outcome = "redirect"     // the service answered 3xx
	outcomeClientError outcome = "client_error" // the service answered 4xx
	outcomeServerError outcome = "server_error" // the service answered 5xx
	outcomeArguments   outcome = "bad_arguments"
	outcomeScope       outcome = "insufficient_scope"
	outcomeCondition   outcome = "not_permitted"
	outcomeUnconfirmed outcome = "not_confirmed"
	outcomeUnanswered  outcome = "not_answered" // the user did not give what the call needs
	outcomeAsked       outcome = "asked"        // the client comes again with the user's answer
	outcomeJob         outcome = "job"          // the service goes on with it, and the client was told how to ask
	outcomeJobFailed   outcome = "job_failed"   // the service went on with it, in vain
	outcomeNoTasks     outcome = "no_tasks"     // it is for clients with tasks alone
	outcomeNoBase      outcome = "no_base_url"
	outcomeHeader      outcome = "bad_header" // a header of the caller that is to be passed on can't be
	outcomeInternal    outcome = "internal"
	outcomeUnaudited   outcome = "unaudited"    // the audit log has no room for it
	outcomeUnknown     outcome = "unknown_tool" // in the audit log alone, as no metric may have names that callers make up
	outcomeLimited     outcome = "limited"      // refused by the gateway, for its rate or for want of room
	// outcomeSubjectRefused is that of [credential.SubjectRefused].
	outcomeSubjectRefused outcome = "token_subject_refused"
	outcomeUncounted      outcome = "uncounted" // refused, because nobody could count it (state.closed)
)

// metrics are the metrics of the gateway. Labels come from closed sets; sizes are in bytes, times in seconds.
type metrics struct {
	requests        *prometheus.CounterVec   // method, era, code
	requestDuration *prometheus.HistogramVec // method
	calls           *prometheus.CounterVec   // api, tool, outcome
	callDuration    *prometheus.HistogramVec // api
	inFlight        prometheus.Gauge
	drift           *prometheus.CounterVec // api, tool
	oddCodings      *prometheus.CounterVec // api
	tools           *prometheus.GaugeVec   // api
	operations      *prometheus.GaugeVec   // api, fate
	problems        *prometheus.GaugeVec   // api, code
	skips           *prometheus.GaugeVec   // api, code
	apiState        *prometheus.GaugeVec   // api, state
	certificates    *prometheus.GaugeVec   // api
	lost            *prometheus.GaugeVec   // api
	unrestricted    *prometheus.GaugeVec   // api
	heldTools       *prometheus.GaugeVec   // api
	loads           *prometheus.CounterVec // api, outcome
	reloads         *prometheus.CounterVec // outcome
	polls           *prometheus.CounterVec // api, outcome
	kept            *prometheus.CounterVec // api, outcome
	panics          prometheus.Counter
	refused         map[refusalReason]prometheus.Counter
	flow            *flow
}

func newMetrics(r *prometheus.Registry, version string) *metrics {
	buckets := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
	m := &metrics{
		flow: newFlow(r, buckets),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_requests_total",
			Help: "JSON-RPC requests by method, era of the protocol and JSON-RPC error code (0: none)."}, []string{"method", "era", "code"}),
		requestDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drawbridge_request_duration_seconds",
			Help: "Time from the first byte of a request to the last of its answer.", Buckets: buckets}, []string{"method"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tool_calls_total",
			Help: "Calls of tools by outcome."}, []string{"api", "tool", "outcome"}),
		callDuration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "drawbridge_tool_call_duration_seconds",
			Help: "Time of a call that reached the service, until its answer was passed on.", Buckets: buckets}, []string{"api"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_tool_calls_in_flight",
			Help: "Calls of tools that run now."}),
		drift: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_contract_drift_total",
			Help: "Answers that did not fit what the document says of them."}, []string{"api", "tool"}),
		oddCodings: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_ignored_content_encodings_total",
			Help: "Answers of services whose Content-Encoding names no content coding, such as UTF-8, and was ignored."}, []string{"api"}),
		tools: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_api_tools",
			Help: "Tools served of each API."}, []string{"api"}),
		operations: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_operations",
			Help: "Operations of each API's document by fate: exposed, changed, excluded, held or skipped."}, []string{"api", "fate"}),
		problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_document_problems",
			Help: "Problems of each API's document by code: what was repaired, left out or guessed."}, []string{"api", "code"}),
		skips: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_skipped_operations",
			Help: "Operations that can't be tools by the code of the reason."}, []string{"api", "code"}),
		apiState: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_api_state",
			Help: "1 for the state in which the API is: loading, ready, stale, held or failed."}, []string{"api", "state"}),
		heldTools: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_held_tools",
			Help: "Tools that are held back because tools.lock does not approve them."}, []string{"api"}),
		lost: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_lost_operations",
			Help: "Operations that a newer document lacks, which is held because of that."}, []string{"api"}),
		unrestricted: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_undone_restrictions",
			Help: "Restrictions of the configuration that a newer document would undo, which is held because of that."}, []string{"api"}),
		certificates: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_client_certificate_expiry_timestamp_seconds",
			Help: "When the certificate that the gateway shows for an API ends: the first, if there are several."}, []string{"api"}),
		loads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_api_loads_total",
			Help: "Attempts to read a document by outcome: changed, unchanged, held or failed."}, []string{"api", "outcome"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_config_reloads_total",
			Help: "Attempts to reload the configuration by outcome: ok, failed, or held because it would open access."}, []string{"outcome"}),
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_resource_polls_total",
			Help: "Looks at resources that clients watch by outcome: changed, unchanged or failed."}, []string{"api", "outcome"}),
		kept: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_cache_total",
			Help: "Requests for whose answers there is a cache by outcome: hit, shared, revalidated, miss or bypass; and answers that were kept: stored."}, []string{"api", "outcome"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_panics_total",
			Help: "Panics that were caught. Each is a bug; the log has the stack."}),
	}
	for _, o := range []string{"ok", "failed", "held"} { // the first failure is an increase, not a new series
		m.reloads.WithLabelValues(o)
	}
	m.refused = newRefused(r)
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_build_info", Help: "Always 1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	r.MustRegister(m.requests, m.requestDuration, m.calls, m.callDuration, m.inFlight, m.drift, m.oddCodings, m.tools, m.operations, m.problems, m.skips, m.apiState, m.certificates, m.lost, m.unrestricted, m.heldTools, m.loads,
		m.reloads, m.polls, m.kept, m.panics, build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// callMetrics are the handles of one plan, looked up once. The common outcome has its own; the others are looked
// up when they happen.
type callMetrics struct {
	m         *metrics
	api, tool string
	ok        prometheus.Counter
	duration  prometheus.Observer
	flow      apiFlow
}

func (m *metrics) call(api, tool string) callMetrics {
	return callMetrics{m: m, api: api, tool: tool,
		ok: m.calls.WithLabelValues(api, tool, string(outcomeOK)), duration: m.callDuration.WithLabelValues(api), flow: m.flow.of(api)}
}

func (c *callMetrics) count(o outcome) {
	if o == outcomeOK {
		c.ok.Inc()
		return
	}
	c.m.calls.WithLabelValues(c.api, c.tool, string(o)).Inc()
}

// forget removes the series of a tool that is no longer served, unless others are counted there too, whose handles it would take. Calls of it that still run
// may bring one back.
func (c *callMetrics) forget() {
	if c.tool == otherTools {
		return
	}
	labels := prometheus.Labels{"api": c.api, "tool": c.tool}
	c.m.calls.DeletePartialMatch(labels)
	c.m.drift.DeletePartialMatch(labels)
}

// fates shows what became of an API's operations; f is nil for one that is not served. Codes that were there before, and
// are no more, leave no series behind.
func (m *metrics) fates(api string, f, before *fates) {
	if f == before {
		return
	}
	var counts admin.Fates
	var problems, skips admin.Counts
	if f != nil {
		counts, problems, skips = f.counts, f.problems, f.skips
	}
	m.heldTools.WithLabelValues(api).Set(float64(counts.HeldBack))
	for _, fate := range []admin.Fate{admin.Exposed, admin.Changed, admin.Excluded, admin.HeldBack, admin.Skipped} {
		m.operations.WithLabelValues(api, string(fate)).Set(float64(counts.Of(fate)))
	}
	show := func(vec *prometheus.GaugeVec, now, then admin.Counts) {
		for code, n := range now {
			vec.WithLabelValues(api, code).Set(float64(n))
		}
		for code := range then {
			if now[code] == 0 {
				vec.DeleteLabelValues(api, code)
			}
		}
	}
	if before == nil {
		before = &fates{}
	}
	show(m.problems, problems, before.problems)
	show(m.skips, skips, before.skips)
}

// forget removes the series of an API that is no longer served.
func (m *metrics) forget(api string) {
	labels := prometheus.Labels{"api": api}
	m.calls.DeletePartialMatch(labels)
	m.callDuration.DeletePartialMatch(labels)
	m.drift.DeletePartialMatch(labels)
	m.oddCodings.DeletePartialMatch(labels)
	m.tools.DeletePartialMatch(labels)
	m.operations.DeletePartialMatch(labels)
	m.problems.DeletePartialMatch(labels)
	m.skips.DeletePartialMatch(labels)
	m.apiState.DeletePartialMatch(labels)
	m.certificates.DeletePartialMatch(labels)
	m.lost.DeletePartialMatch(labels)
	m.unrestricted.DeletePartialMatch(labels)
	m.heldTools.DeletePartialMatch(labels)
	m.loads.DeletePartialMatch(labels)
	m.polls.DeletePartialMatch(labels)
	m.kept.DeletePartialMatch(labels)
	m.flow.forget(api)
}

// observe counts one HTTP request to the endpoint and writes its access log line, at debug level if all went
// well: at thousands of calls a second the log would be the largest cost of a call.
func (g *Gateway) observe(r *http.Request, e mcp.Event) {
	method := e.Method
	if method == "" {
		method = "unknown"
	}
	era := "unknown"
	switch e.Era {
	case mcp.Modern:
		era = "modern"
	case mcp.Legacy:
		era = "legacy"
	}
	g.metrics.requests.WithLabelValues(method, era, codeLabel(e.Code)).Inc()
	g.metrics.flow.answered(e)
	g.metrics.requestDuration.WithLabelValues(method).Observe(e.Duration.Seconds())
	level := slog.LevelDebug
	if e.HTTPStatus >= 400 || e.Code != 0 {
		level = slog.LevelInfo
	}
	line, counted := faultLine{tell: true}, "drawbridge_requests_total"
	switch {
	case e.Panicked:
		g.metrics.panics.Inc()
		level = slog.LevelError
	case e.Later != 0:
		counted = "drawbridge_refused_total"
		line = g.laters.tells(e.Method, outcome(strconv.Itoa(int(e.Later))), time.Now())
	case level == slog.LevelInfo:
		line = g.mistakes.tells(e.Method, outcome(strconv.Itoa(e.HTTPStatus)+" "+strconv.Itoa(e.Code)), time.Now())
	}
	if !line.tell {
		level = slog.LevelDebug
	}
	ctx := r.Context()
	if !g.log.Enabled(ctx, level) {
		return
	}
	client, _ := g.clients.Address(r)
	attrs := [...]slog.Attr{
		slog.Any("client", client), slog.String("method", method), slog.String("revision", e.Revision), slog.Int("status", e.HTTPStatus),
		slog.Int("code", e.Code), slog.Int64("in", e.RequestBytes), slog.Int64("out", e.ResponseBytes), slog.Duration("duration", e.Duration),
	}
	g.log.LogAttrs(ctx, level, "request", line.with(attrs[:], "requests are only counted, by "+counted)...)
}

// codeLabel avoids an allocation for the code of nearly all requests.
func codeLabel(code int) string {
	if code == 0 {
		return "0"
	}
	return strconv.Itoa(code)
}
