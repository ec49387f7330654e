package polling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"drawbridge/gateway/call"
	"drawbridge/gateway/job"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/redact"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/text"
)

// The service's answer about a job is often the response of an operation with its own access rules and redaction. They apply
// here too, so that a job gives no caller what a direct call would not.

// authorizeResponses checks that the caller may know the responses of all operations that an answer may come from, and adds their redaction
// to that of the next response. The error is a [*call.Failure] that names the tool to use instead.
func (c *JobCall) authorizeResponses(ctx context.Context, all []plan.ResponseOf) error {
	var hidden []*redact.Sensitive
	for _, one := range all {
		p := c.Endpoint.PlanOf(one.Operation)
		if err := c.authorizeResponse(ctx, p, one); err != nil {
			return err
		}
		if p != nil && p != c.Plan && p.Sensitive != nil {
			hidden = append(hidden, p.Sensitive)
		}
	}
	c.HideAlso(hidden)
	return nil
}

// authorizeResponse checks that the caller may know the response of an operation; p is its plan at the endpoint, or nil if it has none
// there. The user can't be asked for consent here; an operator's rule that names the operation counts as consent.
func (c *JobCall) authorizeResponse(ctx context.Context, p *plan.Plan, one plan.ResponseOf) error {
	named := c.Plan.Job.Names(one.Operation) || c.Plan.PolledJob != nil && c.Plan.PolledJob.Names(one.Operation)
	switch {
	case p == nil && named, c.Origin.ByOperator():
		return nil
	case p == nil:
		return c.notDisclosed(nil, nil)
	case c.Endpoint.Guard != nil && !c.Endpoint.Allows(c.Caller.Principal, call.Operation(p)):
		if c.Endpoint.HideUnauthorized {
			return c.notDisclosed(nil, nil)
		}
		return c.notDisclosed(p, one.Arguments)
	case !p.Arguments.Agrees(one.Arguments, c.Caller.Principal):
		return &call.Failure{Outcome: telemetry.OutcomeJob, Text: c.Plan.Tool.API + otherArguments}
	case p == c.Plan && p.Condition == nil:
		return nil
	case !named && p.AsksUser() && !c.isExempt(p):
		return c.notDisclosed(p, one.Arguments)
	case p.Condition == nil:
		return nil
	}
	args, err := p.Arguments.Adopt(one.Arguments, c.Caller.Principal)
	if err == nil {
		args, _, err = p.Requests.Check(args)
	}
	if err == nil {
		var ok bool
		if ok, err = c.Permits(ctx, p, args); ok && err == nil {
			return nil
		}
	}
	return c.notDisclosed(p, one.Arguments)
}

// otherArguments ends the text about a job whose URL has another value of an argument than the one that rules fix.
const otherArguments = " tells of this job under arguments that this caller's requests can't have. So it is not known here how it stands. Do not make the" +
	" same call again, which would begin another job."

// isExempt reports whether calls of the plan need nothing from the user but consent, and this caller is exempt from it.
func (c *JobCall) isExempt(p *plan.Plan) bool { return p.Elicitation == nil && c.HasStandingConsent(p) }

// notDisclosed returns the failure for a caller that may not know the status or result of a job. It is not an error of the call,
// which has started the job.
func (c *JobCall) notDisclosed(p *plan.Plan, args json.RawMessage) error {
	message := c.Plan.Tool.API + " tells of this job by "
	if p == nil || p.Tool.Hidden {
		message += "an operation that is no tool here"
	} else {
		message += fmt.Sprintf("what the tool %s gives with the arguments %s, which it does not give to this caller in this way", p.Tool.Name,
			text.Truncate(c.Redactor().Text(string(jsonscan.AppendCompact(nil, args))), 200))
	}
	return &call.Failure{Outcome: telemetry.OutcomeJob, Text: message + ". So it is not known here how it stands. Do not make the same call again, which would begin another job."}
}

// IsNotDisclosed returns the failure for a caller that may not know about the job, or nil if err is another error.
func IsNotDisclosed(err error) *call.Failure {
	var f *call.Failure
	if errors.As(err, &f) && f.Outcome == telemetry.OutcomeJob {
		return f
	}
	return nil
}

// authorizePoll checks that the caller may poll the job at all, before a task is promised.
func (c *JobCall) authorizePoll(ctx context.Context, b *job.Handle) error {
	switch r := c.Plan.Job.Status; {
	case c.Plan.Job.Callback != nil:
		return nil // reported by callback, as a rule without polling
	case r != nil && r.Operation != nil && b.Status != nil:
		return c.authorizeResponses(ctx, []plan.ResponseOf{{Operation: r.Operation, Arguments: b.Status}})
	case b.URL != nil:
		return c.authorizeResponses(ctx, c.Plan.ResponsesAt(http.MethodGet, b.URL))
	}
	return nil
}
