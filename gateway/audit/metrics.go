package audit

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of a log.
type metrics struct{ written, dropped, errors prometheus.Counter }

func newMetrics(r prometheus.Registerer, l *Log) metrics {
	m := metrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_written_total",
			Help: "Audit log lines written."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_dropped_total",
			Help: "Audit log lines lost."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_errors_total",
			Help: "Failed attempts to write the audit log. The lines stay queued and are written later."}),
	}
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
