package gateway

import "drawbridge/gateway/mcp"

// methods returns the protocol methods that the gateway implements. It and capabilities must agree (mcp-V2).
func (g *Gateway) methods() mcp.Methods {
	return mcp.Methods{
		"tools/list": g.list(toolsKind),
		"tools/call": g.callTool,

		"resources/list":           g.list(resourcesKind),
		"resources/templates/list": g.list(templatesKind),
		"resources/read":           g.readResource,

		"prompts/list": g.list(promptsKind),
		"prompts/get":  g.getPrompt,

		"completion/complete": g.complete,

		"tasks/get":    g.getTask,
		"tasks/update": g.updateTask,
		"tasks/cancel": g.cancelTask,
	}
}

func capabilities() mcp.Capabilities {
	return mcp.Capabilities{Tools: true, Resources: true, Prompts: true, Completions: true, Tasks: true, Logging: true}
}
