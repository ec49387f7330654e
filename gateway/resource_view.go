package gateway

import (
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
)

// resourceView is what reading resources needs of an endpoint. It is immutable.
type resourceView struct {
	*call.Endpoint
	resources *plan.Resources
	links     *mcp.SealedHandles // opens the URIs of responses that are read later
}
