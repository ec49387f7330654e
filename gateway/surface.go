package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/gateway/call"
	"drawbridge/gateway/clientip"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/task"
)

// surface is where clients, services and operators reach the gateway.
type surface struct {
	served        *served
	server        *endpoint.Server
	mcpHandlers   *endpoint.Handlers // one MCP handler per endpoint, kept across reloads
	calls         *call.Runner
	tools         *deliver.Tools
	tasks         *task.Tasks
	subscriptions *resource.Subscriptions
	clients       *clientip.Resolver
	untrusted     *clientip.UntrustedProxies
	denials       *endpoint.Denials
	connections   *listener.Limiter
	public        http.Handler // serves clients, see Handler
	admin         http.Handler // serves operators, see Admin
}

// Handler returns the handler for clients (/mcp and the protected resource metadata of RFC 9728) and for services (the
// public keys of identity tokens). /mcp answers 503 until the first API is served.
func (s *surface) Handler() http.Handler { return s.public }

// Admin returns the handler for operators: health, readiness, metrics, the state of the APIs and POST /reload. It
// belongs on a listener of its own.
func (s *surface) Admin() http.Handler { return s.admin }

// Listen listens for clients at address, host:port, as [listener.Listen] does, with the limits of [Gateway.Listener].
func (s *surface) Listen(ctx context.Context, address string) (*listener.Listener, error) {
	l, err := listener.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	return s.Listener(l), nil
}

// Listener limits the connections of a listener for clients (limits.max_connections, max_connections_per_address).
func (s *surface) Listener(l net.Listener) *listener.Listener { return s.connections.Listener(l) }

// connectionLimits are the options of the limiter of connections, and of requests over HTTP/2, which follows the current
// configuration.
func (s *surface) connectionLimits(metrics prometheus.Registerer, panicked func(what string, v any)) listener.Options {
	return listener.Options{
		Limits: func() (total, perAddress int) {
			limits := &s.served.Config().Limits
			return limits.MaxConnections, limits.MaxConnectionsPerAddress
		},
		Key: func(peer netip.Addr) netip.Prefix {
			if peer.IsLoopback() || s.clients.Trusts(peer) {
				return netip.Prefix{}
			}
			return clientip.KeyOf(peer).Network()
		},
		Refused: s.denials.Connection, Panicked: panicked, Metrics: metrics,
	}
}
