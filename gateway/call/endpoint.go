package call

import (
	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/plan"
	"drawbridge/openapi"
)

// Endpoint is what calls need to know of the endpoint that they came in by. It is immutable.
type Endpoint struct {
	Name  string          // "" for the endpoint of all tools
	Guard *auth.Guard     // nil if no token is required
	Tools map[string]Tool // by name, with operations that are resources only
	// Renamed returns the tool that had a name which no tool has now, or nil; nil if no tool was renamed.
	Renamed func(name string) *catalog.Tool
	// operations maps operations to their plans.
	operations map[*openapi.Operation]*plan.Plan
	// HideUnauthorized makes tools that a caller may not call look as if they did not exist (Z6).
	HideUnauthorized bool
	// cancelOnDisconnect cancels safe calls of the legacy revisions whose client has closed the connection.
	cancelOnDisconnect bool
	Searches           bool // tools/list has search_tools instead of all tools
	MaxCalls           int  // limit of calls in flight (limits.max_calls)
	// Ceiling bounds the results that clients get.
	Ceiling Ceiling
	// Continuation is what becomes of the jobs that calls start.
	Continuation         Continuation
	AllowsCallerWebhooks bool // callers may ask for a webhook at the end of a job
}

// Ceiling bounds the results that clients get. A zero field is no limit. What is not for a client has the whole answer: the
// cache, resources, and calls of the operator of the process.
type Ceiling struct {
	Tokens int // of a result in a model's context; text and structuredContent are the same data
	Binary int // bytes of all parts that are neither JSON nor text
}

// NewEndpoint returns the view that calls have of an endpoint for tools, but for Searches and what becomes of their jobs.
func NewEndpoint(name string, c *config.Config, tools map[string]Tool, guard *auth.Guard) *Endpoint {
	e := &Endpoint{
		Name: name, Guard: guard, Tools: tools, operations: make(map[*openapi.Operation]*plan.Plan, len(tools)), MaxCalls: c.Limits.MaxCalls, Ceiling: newCeiling(&c.Limits),
		HideUnauthorized: guard != nil && c.Auth.HideUnauthorized, cancelOnDisconnect: c.Server.LegacyDisconnect == config.DisconnectCancel,
	}
	for _, t := range tools {
		if p := PlanOf(t); p != nil {
			e.operations[p.Operation] = p
		}
	}
	return e
}

// newCeiling returns the limits of a configuration.
func newCeiling(l *config.Limits) Ceiling {
	return Ceiling{Tokens: int(l.MaxResultTokens), Binary: int(l.MaxResultBinary)}
}

// FileOwner returns the owner of the stored files of a caller. ok is false for a caller that its token does not identify: it has no files.
func (e *Endpoint) FileOwner(principal string) (owner string, ok bool) {
	return principal, e.Guard == nil || principal != ""
}

// AllowsFile reports whether a caller may use a stored file of its own: whether it may still call the tool that the file came from. A token with
// fewer scopes does not give what one with more was given.
func (e *Endpoint) AllowsFile(caller *auth.Principal, f *filestore.Reader) bool {
	if f.API == "" { // the caller has sent it
		return true
	}
	t := e.Tool(f.Tool)
	return t != nil && (e.Guard == nil || e.Allows(caller, t))
}

// PlanOf returns the plan of an operation, or nil if it has none at the endpoint.
func (e *Endpoint) PlanOf(op *openapi.Operation) *plan.Plan { return e.operations[op] }

// Tool returns the tool of a name, or of a former name that no tool has now, or nil; a resource only is no tool.
func (e *Endpoint) Tool(name string) Tool {
	if t := e.tool(name); t != nil && !t.Definition().Hidden {
		return t
	}
	return nil
}

func (e *Endpoint) tool(name string) Tool {
	if t := e.Tools[name]; t != nil || e.Renamed == nil {
		return t
	}
	if t := e.Renamed(name); t != nil {
		return e.Tools[t.Name]
	}
	return nil
}

// Plan returns the plan of an operation by the name of its tool, or by a former name that no tool has now, or nil.
func (e *Endpoint) Plan(name string) *plan.Plan { return PlanOf(e.tool(name)) }
