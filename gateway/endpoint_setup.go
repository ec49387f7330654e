package gateway

import (
	"drawbridge/auth/credential"
	"drawbridge/config"
)

// newServer returns the server of the endpoints.
func (g *Gateway) newServer() *endpointServer {
	memoryShort := g.admission.overload.MemoryShort
	return &endpointServer{endpointServerOptions{
		current: g.currentEndpoints,
		admission: &requestAdmission{
			denials: g.denials, clients: g.clients, addresses: g.addresses, principals: g.shared.rates, memoryShort: memoryShort,
			checkCapacity: g.crowded, log: g.log,
		},
		denials: g.denials, clients: g.clients, untrusted: g.untrusted, connections: g.connections, tracer: g.tracer, draining: &g.draining,
		memoryShort: memoryShort, panicked: g.panicked, httpSSE: g.o.Config.Server.OldTransport,
	}}
}

// newMCPHandlers returns the MCP handlers of the endpoints.
func (g *Gateway) newMCPHandlers(c *config.Config, keys [][]byte) *mcpHandlers {
	o := mcpHandlersOptions{
		version: g.o.Version, current: g.currentEndpoints, cursors: g.cursors,
		calls: callMethods{
			callTool: g.callTool, readResource: g.readResource, getPrompt: g.getPrompt, complete: g.complete,
			getTask: g.getTask, updateTask: g.updateTask, cancelTask: g.cancelTask,
		},
		admission: g.server.admission, connections: g.connections,
		authorizeBatch: g.authorizeBatch, subscribeResource: g.watches.begin, subscribeTask: g.watchTask,
		revocations: g.shared.ended, spentNonces: g.shared.spent, relay: g.shared.relay, observe: g.requests.Observe, panicked: g.panicked, log: g.log,
	}
	if g.o.Local {
		o.await = g.await
	}
	return newMCPHandlers(o, c, keys)
}

// publicRoutes are the handlers that are served to clients and services beside the endpoints.
func (g *Gateway) publicRoutes() routesOptions {
	return routesOptions{
		callback: g.serveCallback,
		keys:     serveKeys(func() *credential.Identity { return g.identity.Load() }),
		metadata: serveMetadata(func() *metadataGuards { return g.guards.Load() }),
	}
}
