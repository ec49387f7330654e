package gateway

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/listener"
)

// refusalReason is why the gateway refused a request that may come again. The set is closed: it labels a metric.
type refusalReason string

const (
	refusedAddressRate   refusalReason = "address_rate"
	refusedPrincipalRate refusalReason = "principal_rate"
	refusedToolRate      refusalReason = "tool_rate"
	refusedAPIRate       refusalReason = "api_rate"
	refusedUncounted     refusalReason = "uncounted"                              // what replicas share is away, and state.closed has rates
	refusedBadTokens     refusalReason = "bad_tokens"                             // of one address: its tokens are not looked at for a while
	refusedOverload      refusalReason = "overload"                               // too many calls run
	refusedMemory        refusalReason = refusalReason(listener.ShortOfMemory)    // there is no room for more
	refusedConnections   refusalReason = refusalReason(listener.TooMany)          // too many are open
	refusedOfAddress     refusalReason = refusalReason(listener.TooManyOfAddress) // too many of one address are

	refusedStreams         refusalReason = "streams"        // too many are open, or sessions with subscriptions
	refusedStreamsOfCaller refusalReason = "caller_streams" // too many of one caller are
	refusedWaits           refusalReason = "waits"          // too many calls wait for their users
	refusedWaitsOfCaller   refusalReason = "caller_waits"   // too many of one caller do
)

// newRefused makes the counters of refusals by their reasons, all of which are there from the start.
func newRefused(r prometheus.Registerer) map[refusalReason]prometheus.Counter {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_refused_total",
		Help: "Requests, and connections, that were refused and may come again, by reason."}, []string{"reason"})
	r.MustRegister(vec)
	all := map[refusalReason]prometheus.Counter{}
	for _, because := range []refusalReason{refusedAddressRate, refusedPrincipalRate, refusedToolRate, refusedAPIRate, refusedUncounted, refusedBadTokens,
		refusedOverload, refusedMemory, refusedConnections, refusedOfAddress, refusedStreams, refusedStreamsOfCaller,
		refusedWaits, refusedWaitsOfCaller} {
		all[because] = vec.WithLabelValues(string(because))
	}
	return all
}

// digest is a short name for a long one.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
