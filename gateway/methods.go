package gateway

import "drawbridge/gateway/mcp"

// callMethods are the protocol methods that may send requests to services.
type callMethods struct {
	callTool, readResource, getPrompt, complete, getTask, updateTask, cancelTask mcp.Method
}

// methods returns the protocol methods that the gateway implements. It and capabilities must agree (mcp-V2).
func methods(l *lists, calls callMethods) mcp.Methods {
	return mcp.Methods{
		"tools/list": l.method(toolsKind),
		"tools/call": calls.callTool,

		"resources/list":           l.method(resourcesKind),
		"resources/templates/list": l.method(templatesKind),
		"resources/read":           calls.readResource,

		"prompts/list": l.method(promptsKind),
		"prompts/get":  calls.getPrompt,

		"completion/complete": calls.complete,

		"tasks/get":    calls.getTask,
		"tasks/update": calls.updateTask,
		"tasks/cancel": calls.cancelTask,
	}
}

func capabilities() mcp.Capabilities {
	return mcp.Capabilities{Tools: true, Resources: true, Prompts: true, Completions: true, Tasks: true, Logging: true}
}
