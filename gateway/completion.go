package gateway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"drawbridge/auth"
	"drawbridge/config"
	"drawbridge/gateway/mcp"
)

// complete answers completion/complete: what may be filled in, as far as the configuration and the documents know. Whoever can't
// have a prompt gets nothing of it.
func (g *Gateway) complete(ctx context.Context, req *mcp.Request, reply *mcp.Reply) error {
	asked, err := req.Completion()
	if err != nil {
		return err
	}
	e := endpointFrom(ctx)
	if asked.Prompt == "" {
		return mcp.InvalidParams("unknown resource template %q", cut(asked.Resource, 128))
	}
	p := e.prompt(asked.Prompt)
	if p == nil {
		return unknownPrompt(asked.Prompt)
	}
	if denied := e.authorizePrompt(auth.FromContext(ctx), p); denied != nil {
		return denied
	}
	i := slices.IndexFunc(p.Arguments, func(a config.PromptArgument) bool { return a.Name == asked.Argument })
	if i < 0 {
		return mcp.InvalidParams("prompt %q has no argument %q", p.Name, cut(asked.Argument, 64))
	}
	return reply.Completions(matching(p.values[i], asked.Value))
}

// matching returns the values that begin with what was typed, and then those that hold it elsewhere, in any case.
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

// valuesOf returns what is offered for an argument of a prompt: what the configuration lists, or else what the document has for
// the arguments of tools, and the variables of resources, that are nothing but it.
func (p *prompt) valuesOf(a *config.PromptArgument) (values []string) {
	if len(a.Values) > 0 {
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
			add(m.plan.Operation.Suggestions(name))
		}
		for _, name := range slices.Sorted(maps.Keys(m.variables)) {
			if m.variables[name] == a.Name {
				add(m.plan.Operation.Suggestions(name))
			}
		}
	}
	return values
}
