package gateway

import "drawbridge/gateway/mcp"

// methods is what the gateway does of the protocol. Together with capabilities it says what there is: one without the other
// is wrong (mcp-V2).
func (g *Gateway) methods() mcp.Methods {
	return mcp.Methods{
		"tools/list": g.listTools,
		"tools/call": g.callTool,
	}
}

func capabilities() mcp.Capabilities {
	return mcp.Capabilities{Tools: true, Logging: true}
}
