package deliver

import (
	"context"
	"errors"
	"net/url"

	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
)

// verifier checks the parameters of tools/call besides the arguments of the tool: the field list, the caller's webhook, tasks, and
// arguments that are repeated in headers.
type verifier struct {
	endpoint *call.Endpoint
	tool     call.Tool
	plan     *plan.Plan // of the tool
	via      *Via       // nil if the tool is called by its own name
	fields   error      // of the field list, or nil
	protocol call.Protocol
	req      *mcp.Request // nil if no client makes the call
	local    bool         // the program serves the user that runs it, by a transport without headers
	webhook  *url.URL     // of the caller for the end of a job, or nil; set by verify
}

// verify implements [call.Invocation].Verify.
func (v *verifier) verify(context.Context) (err error) {
	if err := v.via.check(v.tool); err != nil {
		return err
	}
	if v.fields != nil {
		return v.fields
	}
	if v.req != nil {
		if v.webhook, err = v.endpoint.Continuation.CallerWebhook(v.req.Params); err != nil {
			return err
		}
	}
	if v.plan.Job.RequiresTasks {
		if err := mcp.RequireCapabilities(v.protocol.Family, v.protocol.Capabilities, mcp.ClientTasks); err != nil {
			return withoutTasks(v.protocol.Family, err)
		}
	}
	if v.plan.Repeated != nil && v.req != nil && v.protocol.Family == mcp.Stateless && !v.local {
		return checkRepeated(v.req, v.plan.Repeated)
	}
	return nil
}

// check refuses a call through via if the tool can only be called by its own name. A nil via refuses nothing.
func (via *Via) check(t call.Tool) error {
	if via == nil {
		return nil
	}
	d, p := t.Definition(), call.PlanOf(t)
	switch {
	case via.ReadOnly && !d.Annotations.ReadOnly:
		return &call.Failure{Outcome: telemetry.OutcomeArguments, Text: d.Name + " is not read-only: call it with call_tool. Nothing was sent."}
	case p != nil && p.Repeated != nil:
		return &call.Failure{Outcome: telemetry.OutcomeArguments, Text: d.Name + " must be called by its own name, since its clients repeat arguments " +
			"in headers. Nothing was sent. If there is no such tool for you, tell the user that the operator has to list it (tools.pinned)."}
	}
	return nil
}

// wrongFields returns the failure for an invalid field list in the argument of that name.
func wrongFields(name string, err error) error {
	return &call.Failure{Outcome: telemetry.OutcomeArguments, Text: "The arguments are wrong, and nothing was sent. " + name + ": " + err.Error() +
		". Write paths of fields separated by commas, such as items[0:20].id,total, or leave it out."}
}

// withoutTasks returns the error of a call whose job takes longer than a call can wait, for a client that does not support tasks. The legacy
// revisions know neither the error code nor the extension, so their clients get a text.
func withoutTasks(family mcp.RevisionFamily, lacks error) error {
	var fault *mcp.Error
	if family == mcp.Stateless && errors.As(lacks, &fault) {
		reworded := *fault
		reworded.Message = "this tool begins a job that takes long, and answers with a task: the client needs the extension io.modelcontextprotocol/tasks"
		return &call.Refusal{Outcome: telemetry.OutcomeNoTasks, Err: &reworded}
	}
	return &call.Failure{Outcome: telemetry.OutcomeNoTasks, Text: "This tool begins a job that takes long, and answers with a task, which is for clients with the extension " +
		"io.modelcontextprotocol/tasks (2026-07-28). This client does not have it. Nothing was sent. Tell the user that the call has to be made in another way."}
}

// checkRepeated compares the headers of a call with its arguments. A call without headers has none that could differ.
func checkRepeated(req *mcp.Request, arguments []plan.RepeatedArgument) error {
	for _, r := range arguments {
		if err := req.CheckParamHeader(r.Header, jsonscan.Lookup(req.Arguments, r.Argument)); err != nil {
			return err
		}
	}
	return nil
}
