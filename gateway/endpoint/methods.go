package endpoint

import (
	"context"

	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// CallMethods are the protocol methods that may send requests to services.
type CallMethods struct {
	// CallIndirectly answers a tools/call whose name and arguments are those of a tool that is called through another one.
	CallIndirectly                                                               func(ctx context.Context, via *deliver.Via, req *mcp.Request, reply *mcp.Reply) error
	CallTool, ReadResource, GetPrompt, Complete, GetTask, UpdateTask, CancelTask mcp.Method
}

// methods returns the protocol methods that the gateway implements. It and capabilities must agree (mcp-V2).
func methods(l *lists, calls CallMethods, metrics *telemetry.Metrics) mcp.Methods {
	tools := &toolCalls{direct: calls.CallTool, indirect: calls.CallIndirectly, metrics: metrics}
	return mcp.Methods{
		"tools/list": l.method(Tools),
		"tools/call": tools.serve,

		"resources/list":           l.method(resourcesKind),
		"resources/templates/list": l.method(templatesKind),
		"resources/read":           calls.ReadResource,

		"prompts/list": l.method(promptsKind),
		"prompts/get":  calls.GetPrompt,

		"completion/complete": calls.Complete,

		"tasks/get":    calls.GetTask,
		"tasks/update": calls.UpdateTask,
		"tasks/cancel": calls.CancelTask,
	}
}

func capabilities() mcp.Capabilities {
	return mcp.Capabilities{Tools: true, Resources: true, Prompts: true, Completions: true, Tasks: true, Logging: true}
}
