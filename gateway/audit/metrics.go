package audit

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of a log.
type metrics struct {
	written, errors prometheus.Counter
	dropped         *prometheus.CounterVec
	// sent and unsent are the counters of dropped: of lines of calls that were sent to a service or answered from a cache, and of all others.
	sent, unsent prometheus.Counter
}

func newMetrics(r prometheus.Registerer, l *Log) metrics {
	m := metrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_written_total",
			Help: "Audit log lines written."}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_audit_dropped_total",
			Help: "Audit log lines lost: sent (of calls that reached a service or a cached response) or unsent (of refused calls and requests)."}, []string{"record"}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_errors_total",
			Help: "Failed attempts to write the audit log. The lines stay queued and are written later."}),
	}
	m.sent, m.unsent = m.dropped.WithLabelValues("sent"), m.dropped.WithLabelValues("unsent")
	if r != nil {
		r.MustRegister(m.written, m.dropped, m.errors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_audit_pending",
			Help: "Audit log lines waiting to be written."}, func() float64 {
			l.mu.Lock()
			defer l.mu.Unlock()
			return float64(l.lines)
		}))
	}
	return m
}
