package endpoint

import (
	"drawbridge/gateway/builtin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
)

// CallMethods are the implementations of the protocol methods that may send requests to services.
type CallMethods struct {
	Tools                                                                        *deliver.Tools
	Own                                                                          *builtin.Tools
	ReadResource, GetPrompt, GetSkill, Complete, GetTask, UpdateTask, CancelTask mcp.Method
}

// implementations implement the protocol methods.
type implementations struct {
	lists *lists
	tools *toolCalls
	files *fileReads
	calls CallMethods
}

// methodHandler is a row of the gateway's method table: the implementation of a method, and the tool that a request of it uses. The
// protocol's properties of methods are in package mcp, in protocol_methods.go.
type methodHandler struct {
	// serve returns the implementation; nil for a method that package mcp implements.
	serve func(*implementations) mcp.Method
	// tool returns the tool that a request uses, or nil. The field is nil for a method whose requests use no tool, or whose tool is found
	// elsewhere.
	tool func(*Endpoint, *mcp.Request) call.Tool
}

// methodHandlers is the method table of the gateway: a method is one row.
var methodHandlers = map[string]methodHandler{
	"tools/list": {serve: listOf(Tools)},
	"tools/call": {serve: func(i *implementations) mcp.Method { return i.tools.serve }, tool: (*Endpoint).calledTool},

	"resources/list":           {serve: listOf(resourcesKind)},
	"resources/templates/list": {serve: listOf(templatesKind)},
	"resources/read":           {serve: func(i *implementations) mcp.Method { return i.readResource }, tool: (*Endpoint).readTool},
	"resources/subscribe":      {tool: (*Endpoint).watchedTool},

	"prompts/list": {serve: listOf(promptsKind)},
	"prompts/get":  {serve: func(i *implementations) mcp.Method { return i.calls.GetPrompt }},

	"skills/list": {serve: listOf(skillsKind)},
	"skills/get":  {serve: func(i *implementations) mcp.Method { return i.calls.GetSkill }},

	"completion/complete": {serve: func(i *implementations) mcp.Method { return i.calls.Complete }, tool: (*Endpoint).completedTool},

	"tasks/get":    {serve: func(i *implementations) mcp.Method { return i.calls.GetTask }},
	"tasks/update": {serve: func(i *implementations) mcp.Method { return i.calls.UpdateTask }},
	"tasks/cancel": {serve: func(i *implementations) mcp.Method { return i.calls.CancelTask }},
}

func listOf(kind listKind) func(*implementations) mcp.Method {
	return func(i *implementations) mcp.Method { return i.lists.method(kind) }
}

// newMethods returns the protocol methods that the gateway implements.
func newMethods(l *lists, calls CallMethods) mcp.Methods {
	i := &implementations{l, &toolCalls{calls.Tools, calls.Own}, &fileReads{calls.Tools, calls.Own}, calls}
	served := mcp.Methods{}
	for name, m := range methodHandlers {
		if m.serve != nil {
			served[name] = m.serve(i)
		}
	}
	return served
}

// ToolOf returns the tool that a request uses, or nil.
func (e *Endpoint) ToolOf(req *mcp.Request) call.Tool {
	if find := methodHandlers[req.Method].tool; find != nil {
		return find(e, req)
	}
	return nil
}

func (e *Endpoint) calledTool(req *mcp.Request) call.Tool { return e.Tool(target(req)) }

func (e *Endpoint) readTool(req *mcp.Request) call.Tool {
	p, _ := e.ToRead(req.URI, req.Principal)
	return call.Operation(p)
}

func (e *Endpoint) watchedTool(req *mcp.Request) call.Tool {
	p, _ := e.Resources.Find(req.URI)
	return call.Operation(p)
}

func (e *Endpoint) completedTool(req *mcp.Request) call.Tool {
	if asked, err := req.Completion(); err == nil && asked.Prompt == "" {
		return call.Operation(e.Resources.Named(asked.Resource))
	}
	return nil
}
