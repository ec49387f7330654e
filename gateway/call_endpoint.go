package gateway

import (
	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/plan"
	"drawbridge/openapi"
)

// callEndpoint is what calls need to know of the endpoint that they came in by. It is immutable.
type callEndpoint struct {
	name  string                // "" for the endpoint of all tools
	guard *auth.Guard           // nil if no token is required
	plans map[string]*plan.Plan // of its tools, and of operations that are resources only
	// operations maps operations to their plans.
	operations map[*openapi.Operation]*plan.Plan
	// hideUnauthorized makes tools that a caller may not call look as if they did not exist (Z6).
	hideUnauthorized bool
	// cancelOnDisconnect cancels safe calls of the legacy revisions whose client has closed the connection.
	cancelOnDisconnect bool
	maxCalls           int // limit of calls in flight (limits.max_calls)
	// continuation is what becomes of the jobs that calls start.
	continuation   continuation
	callerWebhooks bool // callers may ask for a webhook at the end of a job
}

// newCallEndpoint returns the view that calls have of an endpoint for plans, but for the continuation of their jobs.
func newCallEndpoint(name string, c *config.Config, plans map[string]*plan.Plan, guard *auth.Guard) *callEndpoint {
	e := &callEndpoint{
		name: name, guard: guard, plans: plans, operations: make(map[*openapi.Operation]*plan.Plan, len(plans)), maxCalls: c.Limits.MaxCalls,
		hideUnauthorized: guard != nil && c.Auth.HideUnauthorized, cancelOnDisconnect: c.Server.LegacyDisconnect == config.DisconnectCancel,
	}
	for _, p := range plans {
		e.operations[p.Operation] = p
	}
	return e
}

// tool returns the plan of a tool, or nil if there is none or it is a resource only.
func (e *callEndpoint) tool(name string) *plan.Plan {
	if p := e.plans[name]; p != nil && !p.Tool.Hidden {
		return p
	}
	return nil
}
