package call

import (
	"context"
	"encoding/json"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
)

// Tool is a tool of any kind: an operation of an API, one of the gateway's own (package builtin), or another that a package implements.
// Lists, authorization, admission, records, metrics and reports see this alone. A Tool is immutable and safe for concurrent use.
type Tool interface {
	// Definition is the tool as clients and operators see it.
	Definition() *catalog.Tool
	// Scopes returns sets of scopes: the caller must have been granted all scopes of one set. An empty set stands for
	// auth.default_scopes; without any set nobody may call. needed is false for a tool that every caller of the endpoint may call.
	Scopes() (sets [][]string, needed bool)
	// Rates are the rate limits of the calls, besides those of callers.
	Rates() []*admission.RateLimit
	// AsksUser reports whether calls may ask the user for consent or input.
	AsksUser() bool
	// Metrics count the calls.
	Metrics() *telemetry.CallMetrics
	// Redaction is how the arguments and answers of calls are redacted for the audit log and the history.
	Redaction() Redaction
	// Run runs an admitted call, and sets its outcome or returns a [*Failure]; any other error is for the client. It calls
	// [Call.Begin], or its equivalent, before anything that occupies the gateway. A step that needs the user returns an
	// [*mcp.InputRequired], see [Call.Ask] and [Call.Step]: Run returns it, and runs again with what [Call.Keep] has kept once the user
	// has answered.
	Run(ctx context.Context, c *Call) error
}

// Redaction is how records are redacted. The zero value leaves only what looks like a secret out of them.
type Redaction struct {
	Arguments *plan.Arguments    // secrets that rules add to arguments, or nil
	Sensitive *redact.Sensitive  // fields that are hidden, or nil
	Secrets   *redact.Configured // of the API, or nil
}

// shownArguments returns arguments as records may have them.
func (r *Redaction) shownArguments(args json.RawMessage) json.RawMessage {
	args = r.Arguments.Shown(args)
	if r.Sensitive != nil {
		args = r.Sensitive.JSON(args)
	}
	return args
}

// Step is a call that is a step of another.
type Step struct {
	Tool      Tool
	Arguments json.RawMessage
	// State is that in which the step has asked the user; nil for a step that begins.
	State json.RawMessage
	// Consented reports that the user has agreed to the step by [Call.Consent].
	Consented bool
}

// Step makes a call that is a step of c, for the caller of c, and returns its outcome, which must be closed. The step is authorized, limited
// and recorded as any call is; its record names c as its parent. It is refused if the caller's token has expired since c began.
//
// A step whose user is asked returns an [*mcp.InputRequired]. The tool keeps its State by [Call.Keep], with what the steps before have done,
// and returns the error; when it runs again, it passes the state to the same step, which goes on from there.
func (c *Call) Step(ctx context.Context, s Step) (*Outcome, error) {
	if s.State == nil {
		if err := c.settle(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.expired(); err != nil {
		return nil, err
	}
	inv := Invocation{
		Endpoint: c.Endpoint, Tool: s.Tool, Name: s.Tool.Definition().Name, Origin: FromStep, Method: c.Method, Parent: c.ID(), Caller: c.Caller, Client: c.Client,
		Request: c.Request, Memory: c.Memory, MemoryChecked: true, Arguments: s.Arguments, Input: c.Input.Of(s.State), Trial: c.Trial, Consented: s.Consented, Policy: Policy{Response: Whole},
	}
	if c.Origin.ByOperator() { // whose rights the steps have
		inv.Origin = c.Origin
	}
	if denied := c.r.Authorize(ctx, &inv); denied != nil {
		return nil, denied
	}
	return c.r.Invoke(ctx, inv)
}
