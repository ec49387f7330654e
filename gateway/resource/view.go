package resource

import (
	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/skill"
)

// View is what reading resources needs of an endpoint. It is immutable.
type View struct {
	*call.Endpoint
	Resources *plan.Resources
	Skills    *skill.Set
	Links     *mcp.SealedHandles // opens the URIs of responses that are read later
}
