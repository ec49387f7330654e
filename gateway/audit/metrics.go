package audit

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of a log.
type metrics struct {
	written, errors prometheus.Counter
	// droppedSent counts lost lines of calls that were sent to a service or answered from a cache, droppedUnsent all others.
	droppedSent, droppedUnsent prometheus.Counter
}

// dropped returns the counter for a line that is lost.
func (m *metrics) dropped(line *Line) prometheus.Counter {
	if line.sent() {
		return m.droppedSent
	}
	return m.droppedUnsent
}

func newMetrics(r prometheus.Registerer, l *Log) metrics {
	dropped := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_audit_dropped_total",
		Help: "Audit log lines lost: sent (of calls that reached a service or a cached response) or unsent (of refused calls and requests)."}, []string{"record"})
	m := metrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_written_total",
			Help: "Audit log lines written."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "drawbridge_audit_errors_total",
			Help: "Failed attempts to write the audit log. The lines stay queued and are written later."}),
		droppedSent: dropped.WithLabelValues("sent"), droppedUnsent: dropped.WithLabelValues("unsent"),
	}
	if r != nil {
		r.MustRegister(m.written, dropped, m.errors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_audit_pending",
			Help: "Audit log lines waiting to be written."}, func() float64 {
			l.mu.Lock()
			defer l.mu.Unlock()
			return float64(l.lines)
		}))
	}
	return m
}
