package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/telemetry"
)

// newConnections makes the limiter of connections, and of requests over HTTP/2, which follows the configuration in use.
func (g *Gateway) newConnections() *listener.Limiter {
	return listener.NewLimiter(listener.Options{
		Limits: func() (total, perAddress int) {
			limits := &g.Config().Limits
			return limits.MaxConnections, limits.MaxConnectionsPerAddress
		},
		Key: func(peer netip.Addr) netip.Prefix {
			if peer.IsLoopback() || g.clients.Trusts(peer) {
				return netip.Prefix{}
			}
			return clientip.KeyOf(peer).Network()
		},
		Refused: g.refuseConnection, Panicked: g.panicked, Metrics: g.o.Metrics,
	})
}

// Listen listens for clients at address, host:port, as [listener.Listen] does, with the bounds of [Gateway.Listener].
func (g *Gateway) Listen(ctx context.Context, address string) (*listener.Listener, error) {
	l, err := listener.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	return g.Listener(l), nil
}

// Listener bounds the connections of a listener for clients (limits.max_connections, max_connections_per_address).
func (g *Gateway) Listener(l net.Listener) *listener.Listener { return g.connections.Listener(l) }

// bodyPace holds the bodies of requests to one pace, whoever reads them.
func (g *Gateway) bodyPace(next http.Handler) http.Handler {
	return listener.DefaultBodyPace(func() { g.connections.GaveUp(listener.Body) }).Handler(next)
}

// multiplexed counts requests over HTTP/2 as connections.
func (g *Gateway) multiplexed(next http.Handler) http.Handler {
	return g.connections.HTTP2(listener.HTTP2Options{
		Key: func(r *http.Request) netip.Prefix {
			if a, counts := g.clients.Limited(r); counts {
				return clientip.KeyOf(a).Network()
			}
			return netip.Prefix{}
		},
		ShortOfMemory: g.room.memory.tight,
		Refuse:        g.refuseMultiplexed,
	}, next)
}

// refuseMultiplexed answers a request over HTTP/2 that has no place, without a body, which its client could let wait.
func (g *Gateway) refuseMultiplexed(w http.ResponseWriter, r *http.Request, why listener.Reason) {
	because := telemetry.RefusalReason(why)
	g.metrics.Refused[because].Inc()
	v := &requestInfo{answer: w.Header()} // it has no other
	v.id.given = forwardedRequestID(g.clients, r)
	v.tell()
	g.accountRefused(context.WithValue(r.Context(), requestInfoKey{}, v), r, telemetry.Outcome(because), http.StatusServiceUnavailable, audit.Line{})
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
}
