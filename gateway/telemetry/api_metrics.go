package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/admin"
)

// apiMetrics are the metrics of APIs, but for their traffic.
type apiMetrics struct {
	tools        *prometheus.GaugeVec // api
	operations   *prometheus.GaugeVec // api, fate
	problems     *prometheus.GaugeVec // api, code
	skips        *prometheus.GaugeVec // api, code
	apiState     *prometheus.GaugeVec // api, state
	certificates *prometheus.GaugeVec // api
	lost         *prometheus.GaugeVec // api
	unrestricted *prometheus.GaugeVec // api
	heldTools    *prometheus.GaugeVec // api
	documents    *prometheus.GaugeVec // api
	memory       *prometheus.GaugeVec // api
	memoryLimit  prometheus.Gauge
	loads        *prometheus.CounterVec // api, outcome
	polls        *prometheus.CounterVec // api, outcome
	kept         *prometheus.CounterVec // api, outcome
	oddCodings   *prometheus.CounterVec // api
}

func newAPIMetrics(r prometheus.Registerer) *apiMetrics {
	m := &apiMetrics{
		tools: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_api_tools",
			Help: "Tools served, by API."}, []string{"api"}),
		operations: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_operations",
			Help: "Operations of each API's document by result: exposed, changed, excluded, held or skipped."}, []string{"api", "fate"}),
		problems: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_document_problems",
			Help: "Problems found in each API's document by code: what was repaired, omitted or guessed."}, []string{"api", "code"}),
		skips: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_skipped_operations",
			Help: "Operations that can't become tools, by reason code."}, []string{"api", "code"}),
		apiState: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_api_state",
			Help: "1 for the current state of the API: loading, ready, stale, held, uncallable or failed."}, []string{"api", "state"}),
		certificates: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_client_certificate_expiry_timestamp_seconds",
			Help: "Expiry of the client certificate for an API; the earliest if there are several."}, []string{"api"}),
		lost: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_lost_operations",
			Help: "Operations missing from a newer document that is quarantined for it."}, []string{"api"}),
		unrestricted: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_undone_restrictions",
			Help: "Restrictions, of the configuration or of the document in use, that a newer document would undo and is quarantined for."}, []string{"api"}),
		heldTools: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_held_tools",
			Help: "Tools not served because tools.lock does not approve them."}, []string{"api"}),
		documents: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_document_loaded_timestamp_seconds",
			Help: "Time at which the document in use was read."}, []string{"api"}),
		memory: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "drawbridge_document_memory_bytes",
			Help: "Approximate memory of the compiled document in use."}, []string{"api"}),
		memoryLimit: prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_document_memory_limit_bytes",
			Help: "Memory limit of all compiled documents: a third of GOMEMLIMIT; 0 if unlimited."}),
		loads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_api_loads_total",
			Help: "Attempts to read a document by outcome: changed, unchanged, held or failed."}, []string{"api", "outcome"}),
		polls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_resource_polls_total",
			Help: "Polls of subscribed resources by outcome: changed, unchanged or failed."}, []string{"api", "outcome"}),
		kept: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_cache_total",
			Help: "Cacheable requests by outcome: hit, shared, revalidated, miss or bypass; stored counts responses that entered the cache."}, []string{"api", "outcome"}),
		oddCodings: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_ignored_content_encodings_total",
			Help: "Responses whose Content-Encoding names no content coding, such as UTF-8, and was ignored."}, []string{"api"}),
	}
	r.MustRegister(m.tools, m.operations, m.problems, m.skips, m.apiState, m.certificates, m.lost, m.unrestricted, m.heldTools, m.documents, m.memory, m.memoryLimit,
		m.loads, m.polls, m.kept, m.oddCodings)
	return m
}

// DocumentMemoryLimit shows how many bytes the compiled documents may take together; 0 if there is no limit.
func (m *Metrics) DocumentMemoryLimit(bytes int64) { m.apis.memoryLimit.Set(float64(bytes)) }

// LoadOutcome says what came of an attempt to read a document.
type LoadOutcome string

// The outcomes of attempts to read a document.
const (
	LoadChanged   LoadOutcome = "changed"
	LoadUnchanged LoadOutcome = "unchanged"
	LoadHeld      LoadOutcome = "held" // in quarantine
	LoadFailed    LoadOutcome = "failed"
)

// Loaded counts an attempt to read the document of an API.
func (m *Metrics) Loaded(api string, o LoadOutcome) {
	m.apis.loads.WithLabelValues(api, string(o)).Inc()
}

// PollOutcome says what came of a poll of a resource that clients watch.
type PollOutcome string

// The outcomes of polls.
const (
	PollChanged   PollOutcome = "changed"
	PollUnchanged PollOutcome = "unchanged"
	PollFailed    PollOutcome = "failed"
)

// Polled counts a poll of a resource of an API.
func (m *Metrics) Polled(api string, o PollOutcome) {
	m.apis.polls.WithLabelValues(api, string(o)).Inc()
}

// Cache returns the counter of an outcome of the response cache for an API.
func (m *Metrics) Cache(api, outcome string) prometheus.Counter {
	return m.apis.kept.WithLabelValues(api, outcome)
}

// IgnoredEncoding counts an answer of an API whose Content-Encoding names no content coding.
func (m *Metrics) IgnoredEncoding(api string) { m.apis.oddCodings.WithLabelValues(api).Inc() }

// API shows the state of an API; certificateEnd is when its client certificate ends, zero if it has none.
func (m *Metrics) API(a *admin.API, certificateEnd time.Time) {
	v := m.apis
	v.tools.WithLabelValues(a.Name).Set(float64(a.Tools))
	if a.Held == nil {
		v.lost.DeleteLabelValues(a.Name)
		v.unrestricted.DeleteLabelValues(a.Name)
	} else {
		v.unrestricted.WithLabelValues(a.Name).Set(float64(a.Held.Undone))
		v.lost.WithLabelValues(a.Name).Set(float64(a.Held.Lost))
	}
	if a.LoadedAt == nil {
		v.documents.DeleteLabelValues(a.Name)
		v.memory.DeleteLabelValues(a.Name)
	} else {
		v.documents.WithLabelValues(a.Name).Set(float64(a.LoadedAt.Unix()))
		v.memory.WithLabelValues(a.Name).Set(float64(a.MemoryBytes))
	}
	if certificateEnd.IsZero() {
		v.certificates.DeleteLabelValues(a.Name)
	} else {
		v.certificates.WithLabelValues(a.Name).Set(float64(certificateEnd.Unix()))
	}
	for _, state := range admin.States() {
		is := 0.0
		if state == a.State {
			is = 1
		}
		v.apiState.WithLabelValues(a.Name, string(state)).Set(is)
	}
}

// OperationCounts counts what became of the operations of an API's document. The zero value is that of an API that is not served.
type OperationCounts struct {
	Operations      admin.OperationCounts
	Problems, Skips admin.Counts // by code
}

// SetOperations shows the fates of an API's operations. Codes that were in before, and are not in now, leave no series behind.
func (m *Metrics) SetOperations(api string, now, before OperationCounts) {
	m.apis.heldTools.WithLabelValues(api).Set(float64(now.Operations.HeldBack))
	for _, fate := range []admin.Fate{admin.Exposed, admin.Changed, admin.Excluded, admin.HeldBack, admin.Skipped} {
		m.apis.operations.WithLabelValues(api, string(fate)).Set(float64(now.Operations.Of(fate)))
	}
	show := func(vec *prometheus.GaugeVec, now, before admin.Counts) {
		for code, n := range now {
			vec.WithLabelValues(api, code).Set(float64(n))
		}
		for code := range before {
			if now[code] == 0 {
				vec.DeleteLabelValues(api, code)
			}
		}
	}
	show(m.apis.problems, now.Problems, before.Problems)
	show(m.apis.skips, now.Skips, before.Skips)
}

// ForgetAPI removes the series of an API that is no longer served.
func (m *Metrics) ForgetAPI(api string) {
	m.results.forget(api)
	labels := prometheus.Labels{"api": api}
	for _, vec := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{
		m.calls, m.callDuration, m.drift, m.differences,
		m.apis.tools, m.apis.operations, m.apis.problems, m.apis.skips, m.apis.apiState, m.apis.certificates, m.apis.lost, m.apis.unrestricted,
		m.apis.heldTools, m.apis.documents, m.apis.memory, m.apis.loads, m.apis.polls, m.apis.kept, m.apis.oddCodings,
		m.traffic.responses, m.traffic.wait, m.traffic.sent, m.traffic.received,
	} {
		vec.DeletePartialMatch(labels)
	}
}
