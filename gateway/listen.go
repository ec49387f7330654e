package gateway

import (
	"context"
	"net"
	"net/netip"

	"drawbridge/gateway/clientip"
	"drawbridge/gateway/listener"
)

// newConnections returns the limiter of connections, and of requests over HTTP/2, which follows the current
// configuration.
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
		Refused: g.denials.Connection, Panicked: g.panicked, Metrics: g.o.Metrics,
	})
}

// Listen listens for clients at address, host:port, as [listener.Listen] does, with the limits of [Gateway.Listener].
func (g *Gateway) Listen(ctx context.Context, address string) (*listener.Listener, error) {
	l, err := listener.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	return g.Listener(l), nil
}

// Listener limits the connections of a listener for clients (limits.max_connections, max_connections_per_address).
func (g *Gateway) Listener(l net.Listener) *listener.Listener { return g.connections.Listener(l) }
