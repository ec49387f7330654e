package endpoint

import (
	"context"

	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// CallMethods are the protocol methods that may send requests to services.
type CallMethods struct {
	// CallIndirectly answers a tools/call whose name and arguments are those of a tool that is called through another one.
	CallIndirectly                                                               func(ctx context.Context, via *deliver.Via, req *mcp.Request, reply *mcp.Reply) error
	CallTool, ReadResource, GetPrompt, Complete, GetTask, UpdateTask, CancelTask mcp.Method
}

// implementations are what serves the protocol methods.
type implementations struct {
	lists *lists
	tools *toolCalls
	calls CallMethods
}

// method is a row of the gateway's method table: who serves a method, and which tool a request of it uses. Package mcp has what the
// protocol says of it.
type method struct {
	// serve returns the implementation; nil for a method that package mcp implements.
	serve func(*implementations) mcp.Method
	// plan returns the plan that a request names, nil if it names none; it is nil for a method whose requests use no tool, or whose
	// tools are found otherwise.
	plan func(*Endpoint, *mcp.Request) *plan.Plan
}

// methods is the method table of the gateway: a method is one row.
var methods = map[string]method{
	"tools/list": {serve: listOf(Tools)},
	"tools/call": {serve: func(i *implementations) mcp.Method { return i.tools.serve }, plan: (*Endpoint).calledPlan},

	"resources/list":           {serve: listOf(resourcesKind)},
	"resources/templates/list": {serve: listOf(templatesKind)},
	"resources/read":           {serve: func(i *implementations) mcp.Method { return i.calls.ReadResource }, plan: (*Endpoint).readPlan},
	"resources/subscribe":      {plan: (*Endpoint).watchedPlan},

	"prompts/list": {serve: listOf(promptsKind)},
	"prompts/get":  {serve: func(i *implementations) mcp.Method { return i.calls.GetPrompt }},

	"completion/complete": {serve: func(i *implementations) mcp.Method { return i.calls.Complete }, plan: (*Endpoint).completedPlan},

	"tasks/get":    {serve: func(i *implementations) mcp.Method { return i.calls.GetTask }},
	"tasks/update": {serve: func(i *implementations) mcp.Method { return i.calls.UpdateTask }},
	"tasks/cancel": {serve: func(i *implementations) mcp.Method { return i.calls.CancelTask }},
}

func listOf(kind listKind) func(*implementations) mcp.Method {
	return func(i *implementations) mcp.Method { return i.lists.method(kind) }
}

// newMethods returns the protocol methods that the gateway implements.
func newMethods(l *lists, calls CallMethods, metrics *telemetry.Metrics) mcp.Methods {
	i := &implementations{l, &toolCalls{direct: calls.CallTool, indirect: calls.CallIndirectly, metrics: metrics}, calls}
	served := mcp.Methods{}
	for name, m := range methods {
		if m.serve != nil {
			served[name] = m.serve(i)
		}
	}
	return served
}

// PlanOf returns the plan that a request names, or nil if there is none.
func (e *Endpoint) PlanOf(req *mcp.Request) *plan.Plan {
	if find := methods[req.Method].plan; find != nil {
		return find(e, req)
	}
	return nil
}

func (e *Endpoint) calledPlan(req *mcp.Request) *plan.Plan { return e.Tool(target(req)) }

func (e *Endpoint) readPlan(req *mcp.Request) *plan.Plan {
	p, _ := e.ToRead(req.URI, req.Principal)
	return p
}

func (e *Endpoint) watchedPlan(req *mcp.Request) *plan.Plan {
	p, _ := e.Resources.Find(req.URI)
	return p
}

func (e *Endpoint) completedPlan(req *mcp.Request) *plan.Plan {
	if asked, err := req.Completion(); err == nil && asked.Prompt == "" {
		return e.Resources.Named(asked.Resource)
	}
	return nil
}
