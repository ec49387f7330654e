package gateway

import (
	"context"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/audit"
	"drawbridge/gateway/call"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/telemetry"
)

// newServer returns the server of the endpoints.
func (g *Gateway) newServer() *endpoint.Server {
	memoryShort := g.admission.overload.MemoryShort
	return &endpoint.Server{ServerOptions: endpoint.ServerOptions{
		Current: g.currentEndpoints,
		Admission: &endpoint.RequestAdmission{
			Denials: g.denials, Clients: g.clients, Addresses: g.addresses, Principals: g.shared.rates, MemoryShort: memoryShort,
			CheckCapacity: func(maxCalls int, memoryChecked bool) (*mcp.Error, telemetry.RefusalReason) {
				return g.calls.Overloaded(maxCalls, memoryChecked)
			}, Log: g.log,
		},
		Denials: g.denials, Clients: g.clients, Untrusted: g.untrusted, Connections: g.connections, Tracer: g.tracer, Draining: &g.draining,
		MemoryShort: memoryShort, Panicked: g.panicked, HTTPSSE: g.o.Config.Server.OldTransport,
	}}
}

// newMCPHandlers returns the MCP handlers of the endpoints.
func (g *Gateway) newMCPHandlers(c *config.Config, keys [][]byte) *endpoint.Handlers {
	o := endpoint.HandlersOptions{
		Version: g.o.Version, Current: g.currentEndpoints, Cursors: g.cursors,
		Calls: g.callMethods(), Metrics: g.metrics,
		Admission: g.server.Admission, Connections: g.connections,
		AuthorizeBatch: g.authorizeBatch, SubscribeResource: g.subscriptions.Subscribe, SubscribeTask: g.tasks.Subscribe,
		Revocations: g.shared.ended, SpentNonces: g.shared.spent, Relay: g.shared.relay, Observe: g.requests.Observe, Panicked: g.panicked, Log: g.log,
	}
	if g.o.Local {
		o.Await = g.await
	}
	return endpoint.NewHandlers(o, c, keys)
}

// callMethods returns the methods of calls.
func (g *Gateway) callMethods() endpoint.CallMethods {
	resources := resource.Reader{Calls: g.calls}
	prompts := prompt.Getter{Calls: g.calls, Refuse: g.denials.Prompt, RefuseElicitation: g.refuseElicitation}
	completion := &prompt.Completer{Calls: g.calls, Log: g.log, Cache: &g.completions, RefusePrompt: g.denials.Prompt}
	return endpoint.CallMethods{
		CallTool: ofCalls(g.calls.CallTool), CallIndirectly: func(ctx context.Context, via *call.Indirect, req *mcp.Request, reply *mcp.Reply) error {
			return g.calls.CallIndirectly(ctx, endpoint.From(ctx).Endpoint, via, req, reply)
		}, ReadResource: ofResources(resources.Serve), GetPrompt: ofPrompts(prompts.Serve),
		Complete: ofPrompts(completion.Serve), GetTask: ofCalls(g.tasks.Get), UpdateTask: ofCalls(g.tasks.Update), CancelTask: ofCalls(g.tasks.Cancel),
	}
}

// ofPrompts returns a method that is served with what prompts need of the request's endpoint.
func ofPrompts(serve func(context.Context, *prompt.View, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpoint.From(ctx).View, req, reply)
	}
}

// ofResources is ofPrompts for methods that read resources.
func ofResources(serve func(context.Context, *resource.View, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpoint.From(ctx).View.View, req, reply)
	}
}

// ofCalls is ofPrompts for methods of calls.
func ofCalls(serve func(context.Context, *call.Endpoint, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpoint.From(ctx).Endpoint, req, reply)
	}
}

// refuseElicitation counts a request that can't wait for its user, if err says so, and writes its audit record.
func (g *Gateway) refuseElicitation(ctx context.Context, req *mcp.Request, err error) {
	if because, status := g.calls.RejectWait(err); because != "" {
		g.denials.Record(ctx, req.HTTP, telemetry.Outcome(because), status, audit.Line{RPC: req.Method})
	}
}

// publicRoutes are the handlers that are served to clients and services beside the endpoints.
func (g *Gateway) publicRoutes() endpoint.RoutesOptions {
	return endpoint.RoutesOptions{
		Callback: g.tasks.ServeCallback,
		Keys:     endpoint.ServeKeys(func() *credential.Identity { return g.identity.Load() }),
		Metadata: endpoint.ServeMetadata(func() *endpoint.MetadataGuards { return g.guards.Load() }),
	}
}
