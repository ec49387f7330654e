package deliver

import (
	"context"

	"drawbridge/auth"
	"drawbridge/gateway/call"
	"drawbridge/gateway/inbound"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// Invocation returns the invocation of a tool for the caller of an MCP request, with the arguments of the request. reply is nil if no
// client waits for the call.
func Invocation(ctx context.Context, e *call.Endpoint, t call.Tool, req *mcp.Request, reply *mcp.Reply) call.Invocation {
	v := inbound.From(ctx)
	inv := call.Invocation{
		Endpoint: e, Tool: t, Name: req.Name, Method: req.Method, Arguments: req.Arguments,
		Caller: call.Caller{
			ID: req.Principal, Address: v.Address, Header: req.HTTP.Header,
			Protocol: call.Protocol{Family: req.Family, Revision: req.Revision, Capabilities: req.Client},
		},
		Message: telemetry.MessageOf(req, v.Client),
		Request: &v.Identifier, Check: &v.Check, Memory: v.CallMemory(), MemoryChecked: v.MemoryChecked,
	}
	if e.Guard != nil {
		inv.Caller.Principal = auth.FromContext(ctx)
	}
	if reply != nil { // a nil reply would be a client
		inv.Client = reply
		if t != nil && t.AsksUser() {
			inv.Input = reply.Input()
		}
	}
	return inv
}
