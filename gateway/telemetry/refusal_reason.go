package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/listener"
)

// RefusalReason says why the gateway refused a request that may come again. The set is closed, since it labels a metric.
type RefusalReason string

// The reasons of refusals.
const (
	RefusedAddressRate        RefusalReason = "address_rate"
	RefusedPrincipalRate      RefusalReason = "principal_rate"
	RefusedToolRate           RefusalReason = "tool_rate"
	RefusedAPIRate            RefusalReason = "api_rate"
	RefusedUncounted          RefusalReason = "uncounted"                              // the state that replicas share is away, and state.closed lists rates
	RefusedBadTokens          RefusalReason = "bad_tokens"                             // of one address, whose tokens are not checked for a while
	RefusedOverload           RefusalReason = "overload"                               // too many calls run
	RefusedMemory             RefusalReason = RefusalReason(listener.ShortOfMemory)    // there is no memory for more
	RefusedUnaudited          RefusalReason = "unaudited"                              // the audit log can't be written
	RefusedConnections        RefusalReason = RefusalReason(listener.TooMany)          // too many are open
	RefusedAddressConnections RefusalReason = RefusalReason(listener.TooManyOfAddress) // too many of one address are open
	RefusedStreams            RefusalReason = "streams"                                // too many are open, or sessions with subscriptions
	RefusedCallerStreams      RefusalReason = "caller_streams"                         // too many of one caller are open
	RefusedWaits              RefusalReason = "waits"                                  // too many calls wait for their users
	RefusedCallerWaits        RefusalReason = "caller_waits"                           // too many of one caller wait
)

// newRefused makes the counters of refusals by their reasons, all of which are there from the start.
func newRefused(r prometheus.Registerer) map[RefusalReason]prometheus.Counter {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_refused_total",
		Help: "Requests and connections that were rejected and may be retried, by reason."}, []string{"reason"})
	r.MustRegister(vec)
	all := map[RefusalReason]prometheus.Counter{}
	for _, because := range []RefusalReason{RefusedAddressRate, RefusedPrincipalRate, RefusedToolRate, RefusedAPIRate, RefusedUncounted, RefusedBadTokens,
		RefusedOverload, RefusedMemory, RefusedUnaudited, RefusedConnections, RefusedAddressConnections, RefusedStreams, RefusedCallerStreams,
		RefusedWaits, RefusedCallerWaits} {
		all[because] = vec.WithLabelValues(string(because))
	}
	return all
}
