package deliver

import (
	"context"
	"encoding/json"
	"net/url"

	"drawbridge/gateway/call"
	"drawbridge/gateway/job/polling"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/render"
	"drawbridge/gateway/telemetry"
)

// Tools answers tools/call. It is safe for concurrent use.
type Tools struct {
	Calls   *call.Runner
	Jobs    polling.Jobs
	Results Results
}

// Via is the tool through which another one is called by name, such as read_tool. The call is the same as a direct one.
type Via struct {
	Name     string                   // of the tool
	ReadOnly bool                     // only tools that change nothing may be called
	Unknown  func(name string) string // returns the text for the model if the caller has no such tool
	Select   json.RawMessage          // the fields of the answer that the model wants; nil if it wants all
}

// Serve answers tools/call.
func (t *Tools) Serve(ctx context.Context, e *call.Endpoint, req *mcp.Request, reply *mcp.Reply) error {
	if req.Name == "" {
		return mcp.InvalidParams("params.name is missing: it must be the name of a tool")
	}
	return t.ServeVia(ctx, e, nil, req, reply)
}

// ServeVia answers a tools/call whose name and arguments are those of the called tool. via is nil if the client has
// called it by its own name.
func (t *Tools) ServeVia(ctx context.Context, e *call.Endpoint, via *Via, req *mcp.Request, reply *mcp.Reply) error {
	inv := Invocation(ctx, e, e.Tool(req.Name), req, reply)
	if via != nil {
		inv.Via = via.Name
	}
	if inv.Tool == nil {
		t.Calls.RecordDenied(ctx, &inv, telemetry.OutcomeUnknown)
		return answerUnknown(&inv, via, reply)
	}
	if denied := t.Calls.Authorize(ctx, &inv); denied != nil {
		if e.HideUnauthorized {
			return answerUnknown(&inv, via, reply)
		}
		return denied
	}
	p := inv.Plan()
	if p == nil {
		return t.serveTexts(ctx, inv, via, reply)
	}
	out, webhook, err := t.invoke(ctx, inv, via, req)
	if err != nil {
		return err
	}
	defer out.Close()
	beside := t.Jobs.Finish(out, webhook)
	if f := out.Failure; f != nil {
		if mcp.IsShutdown(ctx) && f.Outcome == canceled {
			return f.Cause // package mcp turns it into an error that names the shutdown
		}
		// With a job the call took effect, and repeating it would start another.
		if refused := e.SubjectRefused(inv.Caller.Principal, f); refused != nil && !out.OfJob {
			return refused
		}
	}
	if beside.Task != nil {
		dropped, _ := out.Dropped()
		beside.Task.Meta = render.AppendDropped(nil, dropped)
		return reply.Task(*beside.Task)
	}
	return t.Results.deliver(out, beside.Note, reply)
}

// ServeOwn answers a tools/call of a built-in tool, which is made for the request.
func (t *Tools) ServeOwn(ctx context.Context, e *call.Endpoint, own call.Tool, req *mcp.Request, reply *mcp.Reply) error {
	return t.serveTexts(ctx, Invocation(ctx, e, own, req, reply), nil, reply)
}

// serveTexts calls a built-in tool, and delivers its texts, or the text of its failure.
func (t *Tools) serveTexts(ctx context.Context, inv call.Invocation, via *Via, reply *mcp.Reply) error {
	tool := inv.Tool
	inv.Verify = func(context.Context) error { return via.check(tool) }
	out, err := t.Calls.Invoke(ctx, inv)
	if err != nil {
		return err
	}
	defer out.Close()
	return t.Results.deliver(out, "", reply)
}

// Call calls a tool for an operator. result builds the result from its members. cause is the error of the request to the service, or nil.
// err is not nil if there is no result.
func (t *Tools) Call(ctx context.Context, inv call.Invocation, result func(meta []byte, chunks ...mcp.Chunk) json.RawMessage) (whole json.RawMessage, cause, err error) {
	var out *call.Outcome
	if inv.Plan() == nil {
		out, err = t.Calls.Invoke(ctx, inv)
	} else {
		out, _, err = t.invoke(ctx, inv, nil, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	defer out.Close()
	var beside polling.Answer
	if inv.Plan() != nil {
		beside = t.Jobs.Finish(out, nil)
	}
	if out.Failure != nil {
		cause = out.Failure.Cause
	}
	meta, chunks := t.Results.of(out, beside.Note).members()
	return result(meta, chunks...), cause, nil
}

// invoke calls a tool whose caller is authorized, and returns the open outcome, and the caller's webhook for the end of a job or nil. via
// is nil if the tool is called by its own name. req is nil if no client has called it.
func (t *Tools) invoke(ctx context.Context, inv call.Invocation, via *Via, req *mcp.Request) (out *call.Outcome, webhook *url.URL, err error) {
	p := inv.Plan()
	var wrong error
	if inv.Arguments, inv.Fields, wrong = p.Projection.TakeFields(inv.Arguments); wrong != nil {
		wrong = wrongFields(plan.SelectArgument, wrong)
	}
	var selected json.RawMessage
	if via != nil {
		if selected = via.Select; selected == nil {
			inv.Arguments, selected = p.TakeMisplacedSelect(inv.Arguments)
		}
	}
	if selected != nil && wrong == nil {
		fields, err := plan.ParseFields(selected)
		switch {
		case err != nil:
			wrong = wrongFields("select", err)
		case fields != nil:
			inv.Fields = fields
		}
	}
	inv.Arguments, inv.Dropped = p.Drop(inv.Arguments)
	if req != nil {
		req.Arguments = inv.Arguments // everything from here on sees only these
	}
	if wrong == nil && via == nil && !inv.Endpoint.AllowsCallerWebhooks && !p.Job.RequiresTasks && p.Repeated == nil {
		out, err = t.Calls.Invoke(ctx, inv)
		return out, nil, err
	}
	v := &verifier{endpoint: inv.Endpoint, tool: inv.Tool, plan: p, via: via, fields: wrong, protocol: inv.Caller.Protocol, req: req, local: t.Calls.Local}
	inv.Verify = v.verify
	out, err = t.Calls.Invoke(ctx, inv)
	return out, v.webhook, err
}

// answerUnknown answers a call of a tool that does not exist for the caller. via is nil if the tool is called by its own name.
func answerUnknown(inv *call.Invocation, via *Via, reply *mcp.Reply) error {
	if via == nil {
		return inv.Endpoint.UnknownTool(inv.Caller.Principal, inv.Name)
	}
	return reply.Result(render.Error(via.Unknown(inv.Name))...)
}
