package endpoint

import "drawbridge/gateway/mcp"

// CallMethods are the protocol methods that may send requests to services.
type CallMethods struct {
	CallTool, ReadResource, GetPrompt, Complete, GetTask, UpdateTask, CancelTask mcp.Method
}

// methods returns the protocol methods that the gateway implements. It and capabilities must agree (mcp-V2).
func methods(l *lists, calls CallMethods) mcp.Methods {
	return mcp.Methods{
		"tools/list": l.method(Tools),
		"tools/call": calls.CallTool,

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
