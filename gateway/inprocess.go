package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/deliver"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/workflow"
	"drawbridge/openapi/jsonscan"
)

// Revisions returns the supported protocol revisions, newest first.
func Revisions() []string { return mcp.Revisions() }

// inProcess is the access of the operator of the process to the tools.
type inProcess struct {
	served    *served
	toolCalls *deliver.Tools
	handlers  *endpoint.Handlers
}

// Plans returns the plans of all tools, by name. It returns none before the first load.
func (p *inProcess) Plans() []*plan.Plan {
	gen := p.served.current.Load()
	if gen == nil {
		return nil
	}
	plans := make([]*plan.Plan, 0, len(gen.ByTool))
	for _, of := range gen.ByTool {
		if !of.Tool.Hidden {
			plans = append(plans, of)
		}
	}
	slices.SortFunc(plans, func(a, b *plan.Plan) int { return cmp.Compare(a.Tool.Name, b.Tool.Name) })
	return plans
}

// Tools returns the tools that are listed, by name.
func (p *inProcess) Tools() []*catalog.Tool {
	var tools []*catalog.Tool
	for _, of := range p.Plans() {
		tools = append(tools, of.Tool)
	}
	return tools
}

// SearchList returns the definitions that /mcp would list in search mode, nil if it does.
func (p *inProcess) SearchList() []byte { return p.served.endpoints().SearchList() }

// Plan returns the plan of a tool, or nil if there is no such tool.
func (p *inProcess) Plan(tool string) *plan.Plan {
	if gen := p.served.current.Load(); gen != nil {
		return call.PlanOf(gen.Main.Tool(tool))
	}
	return nil
}

// Definitions returns the tools as a JSON array, as listed in the newest protocol revision.
func (p *inProcess) Definitions() json.RawMessage {
	gen := p.served.current.Load()
	if gen == nil {
		return json.RawMessage("[]")
	}
	return gen.Catalog.View(catalog.Features{Title: true, Annotations: true, OutputSchema: true}, nil)
}

// CallWithCause calls a tool for the operator of the process, who may call every tool. The
// result is that of tools/call in the newest revision. cause is why the service did not answer, or nil if it did; it names the
// service's host and is for the operator only. err reports a call that was not made: an unknown tool, or arguments that are not
// JSON.
func (p *inProcess) CallWithCause(ctx context.Context, tool string, args json.RawMessage) (result json.RawMessage, cause, err error) {
	return p.call(ctx, tool, args, nil)
}

// call is CallWithCause, made by an operator of the console and shown by a trial unless that is nil.
func (p *inProcess) call(ctx context.Context, tool string, args json.RawMessage, trial *call.Trial) (result json.RawMessage, cause, err error) {
	gen := p.served.current.Load()
	if gen == nil || gen.Main.Tool(tool) == nil {
		return nil, nil, fmt.Errorf("unknown tool %q", tool)
	}
	of := p.Plan(tool)
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if _, err := jsonscan.Scan(args, jsonscan.Options{Unique: true, MaxDepth: gen.Config.Limits.MaxDepth}); err != nil || jsonscan.KindOf(args) != jsonscan.Object {
		return nil, nil, fmt.Errorf("the arguments must be a JSON object: %w", cmp.Or(err, errors.New("they are JSON of another type")))
	}
	inv := call.Invocation{
		Endpoint: gen.OperatorEndpoint(), Tool: gen.Main.Tool(tool), Name: tool, Origin: call.FromCommandLine, Method: "tools/call", Arguments: args,
		Caller: call.Caller{Protocol: call.Protocol{Family: mcp.Stateless, Revision: mcp.Revisions()[0]}},
	}
	if trial != nil {
		inv.Origin, inv.Trial = call.FromConsole, trial
	}
	result, cause, err = p.toolCalls.Call(ctx, inv, p.handlers.Main(gen.Config).Result)
	if err != nil || of == nil {
		return result, cause, err
	}
	if cause = causeOf(of, cause, result); cause != nil {
		if text := of.Secrets.All(cause.Error()); text != cause.Error() {
			cause = errors.New(text)
		}
	}
	return result, cause, nil
}

// Workflow reports whether a tool is a workflow.
func (p *inProcess) Workflow(tool string) bool { return p.workflow(tool) != nil }

// workflow returns a tool that is a workflow; nil for any other.
func (p *inProcess) workflow(tool string) *workflow.Tool {
	gen := p.served.current.Load()
	if gen == nil {
		return nil
	}
	w, _ := gen.Main.Tool(tool).(*workflow.Tool)
	return w
}

// PreviewWorkflow returns the steps of a call of a workflow as far as they are known before it runs. Nothing is sent. The error says what is
// wrong with the arguments.
func (p *inProcess) PreviewWorkflow(tool string, args json.RawMessage) ([]workflow.Preview, error) {
	w := p.workflow(tool)
	if w == nil {
		return nil, fmt.Errorf("there is no workflow %q", tool)
	}
	return w.Preview(args)
}

// Access returns the access requirements of a tool and the way its calls reach the service, each with the setting that
// decides it.
func (p *inProcess) Access(of *plan.Plan) *admin.ToolAccess {
	if gen := p.served.current.Load(); gen != nil {
		return gen.Access(of)
	}
	return nil
}

// DefinitionsWithAccess returns those of [Gateway.Definitions] one by one, with the operation and the result of [Gateway.Access] in the _meta
// of each tool. They are for the operator; no client receives them.
func (p *inProcess) DefinitionsWithAccess() iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for tool := range jsonscan.Elements(p.Definitions()) {
			of := p.Plan(jsonscan.StringAt(tool, "/name"))
			if of == nil { // a workflow
				if !yield(tool, nil) {
					return
				}
				continue
			}
			members := map[string]any{
				"drawbridge/access":    p.Access(of),
				"drawbridge/operation": map[string]string{"api": of.Source.Name, "method": of.Tool.Method, "path": of.Tool.Path},
			}
			if len(of.Tool.Former) > 0 {
				members["drawbridge/former_names"] = of.Tool.Former
			}
			meta, err := json.Marshal(members)
			if err == nil {
				tool, err = json.Marshal(json.RawMessage(slices.Concat(tool[:len(tool)-1], []byte(`,"_meta":`), meta, []byte("}"))))
			}
			if !yield(tool, err) || err != nil {
				return
			}
		}
	}
}

// Lock returns the lock entries that would approve the tools of the generation in use. It is for [Gateway.Load] with
// [Options].Unlocked.
func (p *inProcess) Lock() *config.Lock {
	var tools []config.LockedTool
	if gen := p.served.current.Load(); gen != nil {
		tools = gen.LockedTools()
	}
	return config.NewLock(tools)
}
