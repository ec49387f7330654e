package listener

import (
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"
)

// WaitedFor is the part of a request, or of its answer, for which a connection was given up.
type WaitedFor string

const (
	// Nothing tells that the client has sent nothing.
	Nothing WaitedFor = "nothing"
	// Head tells that the head of a request was not sent in time.
	Head WaitedFor = "head"
	// Body tells that the body of a request came too slowly.
	Body WaitedFor = "body"
	// Answer tells that the client was too slow to read a list.
	Answer WaitedFor = "answer"
)

// metrics count connections by how far they have come, and those that were too slow (H7).
type metrics struct {
	gaveUp map[WaitedFor]prometheus.Counter
}

func newMetrics(l *Limiter, r prometheus.Registerer) *metrics {
	m := &metrics{gaveUp: make(map[WaitedFor]prometheus.Counter)}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_open_connections",
		Help: "Open client connections, and HTTP/2 requests in progress."}, func() float64 {
		_, total := l.Held(netip.Prefix{})
		return float64(total)
	}))
	for name, in := range map[string][]stage{"silent": {silent}, "resting": {resting, parked}, "sending": {sending}, "served": {served}, "multiplexed": {multiplexed}} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_arriving_connections",
			Help:        "Open connections by state: silent (no byte received yet), resting (idle after a response), sending (receiving a request header), served (an HTTP/1 request in progress), multiplexed (HTTP/2).",
			ConstLabels: prometheus.Labels{"stage": name}}, func() float64 { return float64(l.count(in...)) }))
	}
	gaveUp := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_connections_given_up_total",
		Help: "Connections closed for being too slow, by what was awaited: the first byte (nothing), the header (head) or body of a request, or that the client reads a list (answer)."},
		[]string{"waited_for"})
	for _, w := range []WaitedFor{Nothing, Head, Body, Answer} {
		m.gaveUp[w] = gaveUp.WithLabelValues(string(w))
	}
	r.MustRegister(gaveUp)
	return m
}

// GaveUp counts a connection that was too slow.
func (l *Limiter) GaveUp(w WaitedFor) { l.metrics.gaveUp[w].Inc() }

// late counts a connection from which nothing was read in time.
func (m *metrics) late(s stage) {
	waitedFor := Nothing
	if s == sending {
		waitedFor = Head
	}
	m.gaveUp[waitedFor].Inc()
}

// count returns how many connections are in one of the stages.
func (l *Limiter) count(in ...stage) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		for _, s := range in {
			if c.at() == s {
				n++
			}
		}
	}
	return n
}
