package gateway

import (
	"context"
	"log/slog"

	"drawbridge/gateway/audit"
	"drawbridge/gateway/builtin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/prompt"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/skill"
	"drawbridge/gateway/task"
	"drawbridge/gateway/telemetry"
)

// callMethods wires the implementations of the protocol methods that may send requests to services.
func callMethods(tools *deliver.Tools, tasks *task.Tasks, denials *endpoint.Denials, metrics *telemetry.Metrics, log *slog.Logger) endpoint.CallMethods {
	calls := tools.Calls
	skills := skill.Server{Refuse: denials.Scope}
	resources := resource.Reader{Calls: calls, Skills: skills}
	prompts := prompt.Getter{Calls: calls, Results: tools.Results, Refuse: denials.Scope, RefuseElicitation: func(ctx context.Context, req *mcp.Request, err error) {
		if because, status := calls.RejectWait(err); because != "" {
			denials.Record(ctx, req.HTTP, telemetry.Outcome(because), status, audit.Line{RPC: req.Method})
		}
	}}
	completion := &prompt.Completer{Calls: calls, Log: log, Cache: &prompt.CompletionCache{}, RefusePrompt: denials.Scope}
	return endpoint.CallMethods{
		Tools: tools, Own: builtin.New(metrics), ReadResource: ofResources(resources.Serve), GetPrompt: ofPrompts(prompts.Serve),
		GetSkill: ofResources(func(ctx context.Context, e *resource.View, req *mcp.Request, reply *mcp.Reply) error {
			return skills.Get(ctx, e.Endpoint, e.Skills, req, reply)
		}),
		Complete: ofPrompts(completion.Serve), GetTask: ofCalls(tasks.Get), UpdateTask: ofCalls(tasks.Update), CancelTask: ofCalls(tasks.Cancel),
	}
}

// ofPrompts adapts a method of package prompt, which gets the view of prompts of the request's endpoint.
func ofPrompts(serve func(context.Context, *prompt.View, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpoint.From(ctx).View, req, reply)
	}
}

// ofResources adapts a method of package resource, like ofPrompts.
func ofResources(serve func(context.Context, *resource.View, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpoint.From(ctx).View.View, req, reply)
	}
}

// ofCalls adapts a method of package task, like ofPrompts.
func ofCalls(serve func(context.Context, *call.Endpoint, *mcp.Request, *mcp.Reply) error) mcp.Method {
	return func(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
		return serve(ctx, endpoint.From(ctx).Endpoint, req, reply)
	}
}
