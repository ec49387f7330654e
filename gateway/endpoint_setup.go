package gateway

import (
	"context"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/telemetry"
)

// newServer returns the server of the endpoints.
func (g *Gateway) newServer() *endpointServer {
	memoryShort := g.admission.overload.MemoryShort
	return &endpointServer{endpointServerOptions{
		current: g.currentEndpoints,
		admission: &requestAdmission{
			denials: g.denials, clients: g.clients, addresses: g.addresses, principals: g.shared.rates, memoryShort: memoryShort,
			checkCapacity: func(maxCalls int, memoryChecked bool) (*mcp.Error, telemetry.RefusalReason) {
				return g.calls.Overloaded(maxCalls, memoryChecked)
			}, log: g.log,
		},
		denials: g.denials, clients: g.clients, untrusted: g.untrusted, connections: g.connections, tracer: g.tracer, draining: &g.draining,
		memoryShort: memoryShort, panicked: g.panicked, httpSSE: g.o.Config.Server.OldTransport,
	}}
}

// newMCPHandlers returns the MCP handlers of the endpoints.
func (g *Gateway) newMCPHandlers(c *config.Config, keys [][]byte) *mcpHandlers {
	o := mcpHandlersOptions{
		version: g.o.Version, current: g.currentEndpoints, cursors: g.cursors,
		calls:     g.callMethods(),
		admission: g.server.admission, connections: g.connections,
		authorizeBatch: g.authorizeBatch, subscribeResource: g.watches.Subscribe, subscribeTask: g.tasks.Subscribe,
		revocations: g.shared.ended, spentNonces: g.shared.spent, relay: g.shared.relay, observe: g.requests.Observe, panicked: g.panicked, log: g.log,
	}
	if g.o.Local {
		o.await = g.await
	}
	return newMCPHandlers(o, c, keys)
}

// callMethods returns the methods of calls.
func (g *Gateway) callMethods() callMethods {
	resources := resource.Reader{Calls: g.calls}
	prompts := prompt.Getter{Calls: g.calls, Refuse: g.denials.prompt, RefuseElicitation: g.refuseElicitation}
	completion := &prompt.Completer{Calls: g.calls, Log: g.log, Cache: &g.completions, RefusePrompt: g.denials.prompt}
	return callMethods{
		callTool: ofCalls(g.calls.CallTool), readResource: ofResources(resources.Serve), getPrompt: ofPrompts(prompts.Serve),
		complete: ofPrompts(completion.Serve), getTask: ofCalls(g.tasks.Get), updateTask: ofCalls(g.tasks.Update), cancelTask: ofCalls(g.tasks.Cancel),
	}
}

// ofPrompts returns a method that is served with what prompts need of the request's endpoint.
func ofPrompts(serve func(context.Context, *prompt.View, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpointFrom(ctx).View, req, reply)
	}
}

// ofResources is ofPrompts for methods that read resources.
func ofResources(serve func(context.Context, *resource.View, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpointFrom(ctx).View.View, req, reply)
	}
}

// ofCalls is ofPrompts for methods of calls.
func ofCalls(serve func(context.Context, *call.Endpoint, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpointFrom(ctx).Endpoint, req, reply)
	}
}

// refuseElicitation counts a request that can't wait for its user, if err says so, and writes its audit record.
func (g *Gateway) refuseElicitation(ctx context.Context, req *mcp.Request, err error) {
	if because, status := g.calls.RejectWait(err); because != "" {
		g.denials.record(ctx, req.HTTP, telemetry.Outcome(because), status, audit.Line{RPC: req.Method})
	}
}

// publicRoutes are the handlers that are served to clients and services beside the endpoints.
func (g *Gateway) publicRoutes() routesOptions {
	return routesOptions{
		callback: g.tasks.ServeCallback,
		keys:     serveKeys(func() *credential.Identity { return g.identity.Load() }),
		metadata: serveMetadata(func() *metadataGuards { return g.guards.Load() }),
	}
}
