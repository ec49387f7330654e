package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/call"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/arazzo"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

const (
	maxRuns    = 200      // of all steps of a run: goto may lead back
	maxRetries = 10       // of one step in a row
	maxOutputs = 16 << 20 // bytes of the outputs of all steps
	maxKept    = 64 << 10 // bytes that are kept while the user is asked
	maxTold    = 2000     // bytes of the outputs in the text of a failure
)

// run is one run of a workflow. Only the goroutine of its call uses it.
type run struct {
	tool   *Tool
	call   *call.Call
	inputs json.RawMessage
	state
}

// consent asks the user once for the steps whose arguments follow from the inputs. The others ask when their arguments are known.
func (r *run) consent(ctx context.Context) error {
	if r.Begun {
		return nil // the user was asked before the first step
	}
	var now, later []*plan.Plan
	var agreed []string
	for _, s := range r.tool.steps {
		switch {
		case s.nested != nil:
			later = slices.AppendSeq(later, s.nested.plans())
		case !s.byInputs():
			later = append(later, s.plan)
		case r.call.NeedsConsent(s.plan):
			now, agreed = append(now, s.plan), append(agreed, s.ID)
		}
	}
	err := r.call.Consent(ctx, r.tool.title(), now, later)
	var need *mcp.InputRequired
	if errors.As(err, &need) {
		if _, kept := r.keep(); kept != nil {
			return kept
		}
	}
	r.Begun, r.Agreed = true, agreed
	return err
}

// title returns the title of the tool with its name, for the user.
func (t *Tool) title() string { return fmt.Sprintf("%q (%s)", t.definition.Title, t.definition.Name) }

// byInputs reports whether the arguments of a step follow from the inputs of the workflow.
func (s *step) byInputs() bool {
	var all []arazzo.Expression
	for i := range s.Parameters {
		all = append(all, s.Parameters[i].Value.Expressions()...)
	}
	if s.Body != nil {
		all = append(all, s.Body.Payload.Expressions()...)
		for i := range s.Body.Replacements {
			all = append(all, s.Body.Replacements[i].Value.Expressions()...)
		}
	}
	return !slices.ContainsFunc(all, func(e arazzo.Expression) bool { return e.Source != arazzo.Inputs })
}

// steps runs the steps from the present one to the end.
func (r *run) steps(ctx context.Context) error {
	for r.At < len(r.tool.steps) {
		s := r.tool.steps[r.At]
		if err := ctx.Err(); err != nil {
			return r.stopped(ctx, s, err)
		}
		if r.Runs++; r.Runs > maxRuns {
			return r.failed(s, telemetry.OutcomeInternal, nil, fmt.Sprintf("the workflow has run %d steps, which is the most: its author has to bound its loops", maxRuns))
		}
		if err := r.call.Client.Progress(float64(r.Runs), float64(max(len(r.tool.steps), r.Runs)), s.ID); err != nil {
			return err
		}
		next, err := r.step(ctx, s)
		if err != nil {
			return err
		}
		r.At = next
	}
	return nil
}

// step runs a step, and returns the index of the next one.
func (r *run) step(ctx context.Context, s *step) (next int, err error) {
	if s.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, s.Timeout)
		defer cancel()
		ctx = bounded
	}
	args, err := r.arguments(s)
	if err != nil {
		return 0, r.failed(s, telemetry.OutcomeArguments, nil, err.Error()+". Nothing was sent for this step")
	}
	asked := r.Asked
	r.Asked = nil
	out, err := r.call.Step(ctx, call.Step{Tool: s.tool(), Arguments: args, State: asked, Consented: r.hasAgreed(s)})
	if err != nil {
		return 0, r.interrupted(ctx, s, err)
	}
	x := newExchange(s, args, out)
	out.Close()
	at := &scope{run: r, exchange: x}
	holds, why := r.holds(at, s.Success, x.failure == nil || x.status >= 300 && s.judgesStatus())
	if !holds {
		return r.afterFailure(ctx, at, why)
	}
	r.Retried = 0
	if err := r.output(s, at); err != nil {
		return 0, err
	}
	if a := r.action(at, s.OnSuccess); a != nil {
		return r.target(a), nil
	}
	return r.At + 1, nil
}

// judgesStatus reports whether the success criteria decide about the status of the response, so that one of 4xx may be a success.
func (s *step) judgesStatus() bool {
	return slices.ContainsFunc(s.Success, func(c *arazzo.Criterion) bool {
		return slices.ContainsFunc(c.Expressions(), func(e arazzo.Expression) bool { return e.Source == arazzo.StatusCode })
	})
}

// holds reports whether all criteria hold, and if not, why. Without otherwise none does.
func (r *run) holds(at *scope, criteria []*arazzo.Criterion, otherwise bool) (bool, string) {
	if !otherwise {
		return false, at.exchange.failure.Text
	}
	for _, c := range criteria {
		if ok, err := c.Holds(at); !ok {
			why := fmt.Sprintf("the criterion at line %d of the workflow does not hold", c.Position.Line)
			if err != nil {
				why += ": " + err.Error()
			}
			if f := at.exchange.failure; f != nil {
				why = f.Text
			} else if at.exchange.status != 0 {
				why += fmt.Sprintf("; the service answered %d", at.exchange.status)
			}
			return false, why
		}
	}
	return true, ""
}

// action returns the first action whose criteria hold; nil if there is none.
func (r *run) action(at *scope, actions []arazzo.Action) *arazzo.Action {
	for i := range actions {
		if ok, _ := r.holds(at, actions[i].Criteria, true); ok {
			return &actions[i]
		}
	}
	return nil
}

// target returns the index of the step that an action goes to.
func (r *run) target(a *arazzo.Action) int {
	if a.Type != "goto" {
		return len(r.tool.steps)
	}
	return slices.IndexFunc(r.tool.steps, func(s *step) bool { return s.ID == a.StepID })
}

// afterFailure decides how the run goes on after a step that failed.
func (r *run) afterFailure(ctx context.Context, at *scope, why string) (next int, err error) {
	s, x := at.exchange.step, at.exchange
	outcome := telemetry.OutcomeClientError
	if x.failure != nil {
		outcome = x.failure.Outcome
	}
	for i := range s.OnFailure {
		a := &s.OnFailure[i]
		if ok, _ := r.holds(at, a.Criteria, true); !ok {
			continue
		}
		switch {
		case a.Type == "goto":
			r.Retried = 0
			return r.target(a), nil
		case a.Type == "end":
			return 0, r.failed(s, outcome, x.cause(), why)
		case r.Retried >= min(a.RetryLimit, maxRetries):
			continue
		case outcome == telemetry.OutcomeUnconfirmed || outcome == telemetry.OutcomeUnanswered:
			return 0, r.failed(s, outcome, x.cause(), why) // the user would be asked again
		case x.status == 0 && !s.isSafe():
			// The service may have done it.
			return 0, r.failed(s, outcome, x.cause(), why+" It is not tried again, because the service may have done it")
		}
		r.Retried++
		if err := pause(ctx, a.RetryAfter); err != nil {
			return 0, r.stopped(ctx, s, err)
		}
		return r.At, nil
	}
	return 0, r.failed(s, outcome, x.cause(), why)
}

// pause waits before a step is tried again.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// output evaluates the outputs of a step that has succeeded.
func (r *run) output(s *step, at *scope) error {
	if !slices.Contains(r.Done, s.ID) {
		r.Done = append(r.Done, s.ID)
	}
	outputs := map[string]json.RawMessage{}
	for i := range s.Outputs {
		o := &s.Outputs[i]
		value, err := o.Value.Evaluate(at)
		if err != nil || value == nil {
			continue // what refers to it says so
		}
		if r.size += len(value); r.size > maxOutputs {
			return r.failed(s, telemetry.OutcomeInternal, nil, fmt.Sprintf("the outputs of its steps are larger than %d MiB. The step has been done", maxOutputs>>20))
		}
		outputs[o.Name] = slices.Clone(value)
	}
	r.Outputs[s.ID] = outputs
	return nil
}

// interrupted returns the error of the workflow for that of a step without an outcome: the user is asked, or the step was refused.
func (r *run) interrupted(ctx context.Context, s *step, err error) error {
	var need *mcp.InputRequired
	if errors.As(err, &need) {
		r.Asked = need.State
		r.Runs-- // it is counted when it goes on
		if kept, err := r.keep(); err != nil {
			return err
		} else if kept > maxKept {
			return r.failed(s, telemetry.OutcomeUnanswered, nil, fmt.Sprintf("the step has to ask the user, and the outputs so far, %d bytes, are too large to be kept meanwhile. Nothing was sent for this step", kept))
		}
		return need
	}
	if len(r.Done) == 0 {
		if outcome := outcomeOf(err); outcome != telemetry.OutcomeUnanswered && ctx.Err() == nil {
			return &call.Refusal{Outcome: outcome, Err: err}
		}
		return err
	}
	if ctx.Err() != nil {
		return r.stopped(ctx, s, err)
	}
	return r.failed(s, outcomeOf(err), err, err.Error()+". Nothing was sent for this step")
}

// outcomeOf returns the outcome of a step that was refused: by its scopes, by a limit, or because an answer of the user does not count.
func outcomeOf(err error) telemetry.Outcome {
	var refused *mcp.Error
	if !errors.As(err, &refused) {
		return telemetry.OutcomeUnanswered
	}
	switch refused.HTTPStatus {
	case http.StatusUnauthorized, http.StatusForbidden:
		return telemetry.OutcomeScope
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return telemetry.OutcomeLimited
	}
	return telemetry.OutcomeUnanswered
}

// stopped returns the failure of a run whose time is over, or the error of one that was canceled.
func (r *run) stopped(ctx context.Context, s *step, err error) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return r.failed(s, telemetry.Outcome("canceled"), err, "the call was canceled")
	}
	return r.failed(s, telemetry.Outcome("timeout"), err, "the time limit of the workflow is over")
}

// failed returns the failure of the workflow at a step, with the steps that were done.
func (r *run) failed(s *step, outcome telemetry.Outcome, cause error, why string) error {
	return &call.Failure{Outcome: outcome, Cause: cause, Text: fmt.Sprintf("The workflow stopped at the step %s (%s): %s.", s.ID, s.name, strings.TrimRight(why, ". \n")) + r.done()}
}

// done says which steps were done.
func (r *run) done() string {
	if len(r.Done) == 0 {
		return "\nNo step before it was done."
	}
	var b strings.Builder
	b.WriteString("\nDone before, so that calling the workflow again would do it again:")
	for _, id := range r.Done {
		fmt.Fprintf(&b, "\n- %s", id)
		if outputs := r.Outputs[id]; len(outputs) > 0 {
			fmt.Fprintf(&b, ": %s", text.Truncate(string(object(outputs)), maxTold))
		}
	}
	return b.String()
}

// answer returns the outputs of the workflow, or those of its steps if it declares none. The error is a [*call.Failure].
func (r *run) answer() (json.RawMessage, error) {
	if len(r.tool.workflow.Outputs) == 0 {
		all := map[string]json.RawMessage{}
		for id, outputs := range r.Outputs {
			all[id] = object(outputs)
		}
		return object(all), nil
	}
	dst := []byte{'{'}
	for i := range r.tool.workflow.Outputs {
		o := &r.tool.workflow.Outputs[i]
		value, err := o.Value.Evaluate(&scope{run: r})
		if err != nil || value == nil {
			continue
		}
		if dst = jsonscan.AppendMember(dst, o.Name, value); len(dst) > maxOutputs {
			return nil, r.failed(r.tool.steps[len(r.tool.steps)-1], telemetry.OutcomeInternal, nil, fmt.Sprintf("the outputs of the workflow are larger than %d MiB", maxOutputs>>20))
		}
	}
	return append(dst, '}'), nil
}

// object returns an object of members, sorted by name.
func object(members map[string]json.RawMessage) json.RawMessage {
	dst := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		dst = jsonscan.AppendMember(dst, name, members[name])
	}
	return append(dst, '}')
}
