package gateway

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// slowness counts those who are slow to send their first request, or to read a list (H7).
type slowness struct {
	stages [stages]atomic.Int64 // connections, of all listeners
	gaveUp map[lateness]prometheus.Counter
}

// lateness is what a connection was waited for, too long.
type lateness string

const (
	ofNothing lateness = "nothing" // it has sent nothing
	ofHead    lateness = "head"    // the rest of a first request's head
	ofBody    lateness = "body"    // the rest of its body
	ofAnswer  lateness = "answer"  // its client, to read a list
)

func newSlowness(g *Gateway, r prometheus.Registerer) *slowness {
	s := &slowness{gaveUp: make(map[lateness]prometheus.Counter)}
	for stage, name := range map[stage]string{silent: "silent", resting: "resting", sending: "sending", arrived: "arrived", served: "served"} {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_arriving_connections",
			Help:        "Open connections in front of net/http by how much of their request has come: silent (nothing yet), resting (nothing since the last answer), sending (a part), arrived (all), or that it is answered there (served).",
			ConstLabels: prometheus.Labels{"stage": name}}, func() float64 { return float64(s.stages[stage].Load()) }))
	}
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "drawbridge_unread_lists",
		Help: "Lists on their way to clients that do not read them."}, func() float64 { return float64(g.mcpHandlers.readers.Count()) }))
	gaveUp := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_connections_given_up_total",
		Help: "Connections that were too slow, by what was waited for: nothing (it sent none), the head or the body of a first request, or that a list was read (answer)."},
		[]string{"waited_for"})
	for _, p := range []lateness{ofNothing, ofHead, ofBody, ofAnswer} {
		s.gaveUp[p] = gaveUp.WithLabelValues(string(p))
	}
	r.MustRegister(gaveUp)
	return s
}
