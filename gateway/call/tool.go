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
	Rates() []*admission.Rate
	// AsksUser reports whether calls need consent or input from the user.
	AsksUser() bool
	// Metrics count the calls.
	Metrics() *telemetry.CallMetrics
	// Redaction is how the arguments and answers of calls are redacted for the audit log and the history.
	Redaction() Redaction
	// Run runs an admitted call, and sets its outcome or returns a [*Failure]; any other error is for the client. It calls
	// [Call.Begin], or its equivalent, before anything that occupies the gateway.
	Run(ctx context.Context, c *Call) error
}

// Redaction is how records are redacted. The zero value leaves only what looks like a secret out of them.
type Redaction struct {
	Arguments *plan.Arguments    // secrets that rules add to arguments; nil if there are none
	Sensitive *redact.Sensitive  // fields that are hidden; nil if there are none
	Secrets   *redact.Configured // of the API; nil if there are none
}

// operation is a tool that is an operation of an API. It is as large as a pointer, so that making a [Tool] of it costs nothing.
type operation struct{ plan *plan.Plan }

// Operation returns the tool that is the operation of a plan; nil if there is no plan.
func Operation(p *plan.Plan) Tool {
	if p == nil {
		return nil
	}
	return operation{p}
}

// PlanOf returns the plan of a tool that is an operation; nil for any other kind, and for no tool.
func PlanOf(t Tool) *plan.Plan {
	o, _ := t.(operation)
	return o.plan
}

// Definition implements [Tool].
func (o operation) Definition() *catalog.Tool { return o.plan.Tool }

// Scopes implements [Tool].
func (o operation) Scopes() (sets [][]string, needed bool) { return o.plan.Scopes, true }

// Rates implements [Tool].
func (o operation) Rates() []*admission.Rate { return o.plan.Rates }

// AsksUser implements [Tool].
func (o operation) AsksUser() bool { return o.plan.AsksUser() }

// Metrics implements [Tool].
func (o operation) Metrics() *telemetry.CallMetrics { return &o.plan.Metrics }

// Redaction implements [Tool].
func (o operation) Redaction() Redaction {
	return Redaction{Arguments: o.plan.Arguments, Sensitive: o.plan.Sensitive, Secrets: o.plan.Secrets}
}

// shownArguments returns arguments as records may have them.
func (r *Redaction) shownArguments(args json.RawMessage) json.RawMessage {
	args = r.Arguments.Shown(args)
	if r.Sensitive != nil {
		args = r.Sensitive.JSON(args)
	}
	return args
}
