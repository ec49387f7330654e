package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/admission"
	"drawbridge/gateway/call"
	"drawbridge/gateway/catalog"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/jsonschema"
	"drawbridge/openapi/schema"
	"drawbridge/openapi/text"
)

// Tool is a workflow as a tool. It is immutable, and implements [call.Tool].
type Tool struct {
	workflow   *arazzo.Workflow
	inputs     inputs
	steps      []*step
	size       int // steps, with those of the workflows in it
	depth      int // levels of workflows in it
	scopes     [][]string
	definition *catalog.Tool
	metrics    *telemetry.CallMetrics
	redaction  call.Redaction
	digest     string // of the description and the tools of the steps
}

// inputs are the arguments of a workflow.
type inputs struct {
	text      json.RawMessage // the schema
	schema    *jsonschema.Schema
	validator *schema.Validator
}

// step is a step that is bound to a tool.
type step struct {
	*arazzo.Step
	name string // of the tool
	// plan is that of the operation, and operation is the latter with the arguments that callers give; nil for another workflow.
	plan      *plan.Plan
	operation *openapi.Operation
	nested    *Tool              // nil for an operation
	arguments *jsonschema.Schema // of the operation; nil once the workflow is compiled, or before it is needed
}

// tool returns the tool that the step calls.
func (s *step) tool() call.Tool {
	if s.nested != nil {
		return s.nested
	}
	return call.Operation(s.plan)
}

// At returns the workflow as a tool of an endpoint that has these plans, by the names of their tools; nil if the endpoint lacks one of
// the steps. defaults are the default scopes of the endpoint.
func (t *Tool) At(plans map[string]*plan.Plan, defaults []string) *Tool {
	own := *t
	own.steps = nil
	for _, s := range t.steps {
		at := *s
		if s.nested != nil {
			if at.nested = s.nested.At(plans, defaults); at.nested == nil {
				return nil
			}
		} else if at.plan = plans[s.name]; at.plan == nil || at.plan.Operation != s.plan.Operation {
			return nil
		}
		own.steps = append(own.steps, &at)
	}
	if own.scopes = own.unionOfScopes(defaults); own.scopes == nil {
		own.scopes = t.scopes
	}
	own.redaction = own.unionOfRedactions()
	return &own
}

// plans yields the plans of all steps, with those of workflows in it.
func (t *Tool) plans() iter.Seq[*plan.Plan] {
	return func(yield func(*plan.Plan) bool) { t.each(yield) }
}

func (t *Tool) each(yield func(*plan.Plan) bool) bool {
	for _, s := range t.steps {
		if s.nested != nil && !s.nested.each(yield) || s.nested == nil && !yield(s.plan) {
			return false
		}
	}
	return true
}

// hasScopes reports whether each step can be called with some scopes.
func (t *Tool) hasScopes() bool {
	for p := range t.plans() {
		if len(p.Scopes) == 0 {
			return false
		}
	}
	return true
}

// unionOfScopes returns the sets of scopes that suffice for all steps; nil if there is none, or if there are too many.
func (t *Tool) unionOfScopes(defaults []string) [][]string {
	all := [][]string{nil}
	for p := range t.plans() {
		var next [][]string
		for _, before := range all {
			for _, set := range p.Scopes {
				if len(set) == 0 {
					set = defaults
				}
				union := slices.Concat(before, set)
				slices.Sort(union)
				union = slices.Compact(union)
				if !slices.ContainsFunc(next, func(known []string) bool { return slices.Equal(known, union) }) {
					next = append(next, union)
				}
			}
		}
		if all = next; len(all) == 0 || len(all) > maxScopeSets {
			return nil
		}
	}
	return all
}

// Name is the name of the tool.
func (t *Tool) Name() string { return t.definition.Name }

// Definition implements [call.Tool].
func (t *Tool) Definition() *catalog.Tool { return t.definition }

// Scopes implements [call.Tool]: the caller needs those of every step.
func (t *Tool) Scopes() (sets [][]string, needed bool) { return t.scopes, true }

// Rates implements [call.Tool]: the steps are counted.
func (t *Tool) Rates() []*admission.RateLimit { return nil }

// AsksUser implements [call.Tool].
func (t *Tool) AsksUser() bool {
	for p := range t.plans() {
		if p.AsksUser() {
			return true
		}
	}
	return false
}

// Metrics implements [call.Tool].
func (t *Tool) Metrics() *telemetry.CallMetrics { return t.metrics }

// Redaction implements [call.Tool]: what one of the steps hides is hidden.
func (t *Tool) Redaction() call.Redaction { return t.redaction }

// Run implements [call.Tool].
func (t *Tool) Run(ctx context.Context, c *call.Call) error {
	args := c.Arguments
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if failure := t.validate(args); failure != nil {
		return failure
	}
	r := &run{tool: t, call: c, inputs: args}
	if err := r.restore(c.Kept()); err != nil {
		return err
	}
	if err := r.consent(ctx); err != nil {
		return err
	}
	ctx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout())
	defer cancel()
	if err := r.steps(ctx); err != nil {
		return err
	}
	outputs, err := r.answer()
	if err != nil {
		return err
	}
	c.AnswerValue(outputs)
	c.Done(ctx, telemetry.OutcomeOK, nil)
	return nil
}

// validate returns the failure of a call whose arguments are not valid; nil if they are.
func (t *Tool) validate(args json.RawMessage) *call.Failure {
	faults := t.inputs.validator.Validate(schema.Decode(args))
	if len(faults) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("The arguments are not valid; nothing was sent. Correct them and call again.\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "- %s: %s\n", f.Pointer, f.Message)
	}
	return &call.Failure{Outcome: telemetry.OutcomeArguments, Text: b.String()}
}

// maxTimeout is the most time that a workflow takes, besides that of its user.
const maxTimeout = 10 * time.Minute

// timeout is the time limit of all steps together: what they may take once, and the pauses before they are tried again.
func (t *Tool) timeout() (sum time.Duration) {
	for _, s := range t.steps {
		one := time.Duration(0)
		if s.nested != nil {
			one = s.nested.timeout()
		} else {
			one = s.plan.Timeout
		}
		sum = min(sum+one, maxTimeout)
		for _, a := range s.OnFailure {
			if a.Type == "retry" {
				sum = min(sum+time.Duration(min(a.RetryLimit, maxRetries))*(a.RetryAfter+one), maxTimeout) // the whole sum may be too large
			}
		}
	}
	return sum
}

const (
	maxTitle       = 200  // bytes
	maxDescription = 2000 // bytes
)

// describe returns the description for models: that of the author, and the steps.
func (t *Tool) describe() string {
	w := t.workflow
	var b strings.Builder
	if said := schema.Prose(w.Description, 0); said != "" {
		b.WriteString(said)
	} else {
		b.WriteString(schema.Prose(w.Summary, 0))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString("Runs these calls in one, in this order:")
	for i, s := range t.steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, s.name)
		if s.plan != nil {
			fmt.Fprintf(&b, " (%s %s of %s)", s.plan.Tool.Method, s.plan.Tool.Path, s.plan.Tool.API)
		}
	}
	return text.Truncate(b.String(), maxDescription)
}

// outputSchema returns the schema of the outputs, as far as the documents declare them; nil if they declare nothing. No output is required:
// an answer may lack what it refers to.
func (t *Tool) outputSchema() json.RawMessage {
	p := &prover{tool: t}
	shape := &jsonscan.Shape{Kinds: jsonscan.Of(jsonscan.Object)}
	for i := range t.workflow.Outputs {
		o := &t.workflow.Outputs[i]
		shape.Properties = append(shape.Properties, jsonscan.Property{Name: o.Name, Shape: p.valueOf(&o.Value, nil)})
	}
	return schema.OutputOf(shape)
}
