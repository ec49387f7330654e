package prompt

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/call"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/resource"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/text"
)

// Completer answers completion requests.
type Completer struct {
	Calls *call.Runner
	Log   *slog.Logger
	Cache *CompletionCache
	// RefusePrompt records that a prompt is refused for a scope, and returns the error.
	RefusePrompt func(ctx context.Context, req *mcp.Request, denied *mcp.Error) error
}

// Serve answers completion/complete with the values that the configuration, the documents and, if configured, the services
// offer. Callers without access to a prompt or resource get no values of it.
func (x *Completer) Serve(ctx context.Context, e *View, req *mcp.Request, reply *mcp.Reply) error {
	asked, err := req.Completion()
	if err != nil {
		return err
	}
	var caller *auth.Principal
	if e.Guard != nil {
		caller = auth.FromContext(ctx)
	}
	if asked.Prompt == "" {
		values, err := x.completeResource(ctx, e, caller, req, asked)
		if err != nil {
			return err
		}
		return reply.Completions(matching(values, asked.Value))
	}
	p := e.prompt(asked.Prompt)
	if p == nil {
		return unknownPrompt(asked.Prompt)
	}
	if denied := authorizePrompt(e.Endpoint, caller, p); denied != nil {
		return x.RefusePrompt(ctx, req, denied)
	}
	i := slices.IndexFunc(p.Arguments, func(a config.PromptArgument) bool { return a.Name == asked.Argument })
	if i < 0 {
		return mcp.InvalidParams("prompt %q has no argument %q", p.Name, text.Truncate(asked.Argument, 64))
	}
	a := &p.arguments[i]
	values := a.values
	if a.plan != nil {
		values = x.valuesFor(ctx, deliver.Invocation(ctx, e.Endpoint, call.Operation(a.plan), req, reply), a, asked)
		if a.Complete.Typed() {
			return reply.Completions(values)
		}
	}
	return reply.Completions(matching(values, asked.Value))
}

// completeResource returns the values that the document declares for a variable of a resource template.
func (x *Completer) completeResource(ctx context.Context, e *View, caller *auth.Principal, req *mcp.Request, asked mcp.Completion) ([]string, error) {
	p := e.Resources.Named(asked.Resource)
	unknown := mcp.InvalidParams("unknown resource template %q: resources/templates/list has those of this server", text.Truncate(asked.Resource, resource.MaxShownURI))
	if p == nil {
		return nil, unknown
	}
	if e.Guard != nil && !e.Allows(caller, call.Operation(p)) {
		inv := deliver.Invocation(ctx, e.Endpoint, call.Operation(p), req, nil)
		x.Calls.RecordDenied(ctx, &inv, telemetry.OutcomeScope)
		if e.HideUnauthorized {
			return nil, unknown
		}
		return nil, resource.Authorize(e.Endpoint, caller, p, req.Family, req.URI)
	}
	always, query := p.Resource.URI.Variables()
	if !slices.Contains(always, asked.Argument) && !slices.Contains(query, asked.Argument) {
		return nil, mcp.InvalidParams("the resource template has no variable %q", text.Truncate(asked.Argument, 64))
	}
	return p.CallerOperation().Suggestions(asked.Argument), nil
}

// matching returns the values that begin with the typed text, followed by those that contain it elsewhere, ignoring case.
func matching(values []string, typed string) []string {
	typed = strings.ToLower(typed)
	var first, others []string
	for _, value := range values {
		switch at := strings.Index(strings.ToLower(value), typed); {
		case at == 0:
			first = append(first, value)
		case at > 0:
			others = append(others, value)
		}
	}
	return append(first, others...)
}

// promptArgument is an argument of a prompt with the source of its values. It is immutable.
type promptArgument struct {
	*config.PromptArgument
	values []string
	plan   *plan.Plan // of the call that supplies the values; nil if there is none
}

// valuesOf returns the values offered for an argument of a prompt: those that the configuration lists, or else those that the
// document declares for the tool arguments and resource variables that consist of this argument alone.
func (p *Prompt) valuesOf(a *config.PromptArgument) (values []string) {
	if len(a.Values) > 0 || a.Complete != nil {
		return a.Values
	}
	add := func(more []string) {
		for _, value := range more {
			if !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	for i := range p.messages {
		m := &p.messages[i]
		for _, name := range slices.Sorted(maps.Keys(m.Arguments)) {
			value := m.Arguments[name]
			if place, whole := value.Place(); !whole || place != a.Name {
				continue
			}
			add(m.plan.CallerOperation().Suggestions(name))
		}
		for _, name := range slices.Sorted(maps.Keys(m.variables)) {
			if m.variables[name] == a.Name {
				add(m.plan.CallerOperation().Suggestions(name))
			}
		}
	}
	return values
}
