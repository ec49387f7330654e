package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"drawbridge/auth"
	"drawbridge/gateway/job"
	"drawbridge/gateway/origin"
	"drawbridge/gateway/telemetry"
	"drawbridge/openapi"
	"drawbridge/openapi/jsonscan"
	"drawbridge/openapi/truncate"
)

// The service's answer about a job is often the response of an operation with its own access rules and redaction. They apply
// here too, so that a job gives no caller what a direct call would not.

// toldBy is an operation whose response is requested, with the arguments of the call.
type toldBy struct {
	operation *openapi.Operation
	args      json.RawMessage
}

// at returns the operations of the API that a URL of its service matches: those with the fewest variables, more than one if the
// match is ambiguous.
func (p *Plan) at(method string, u *url.URL) (found []toldBy) {
	least := 0
	bases := map[string]bool{}
	for _, op := range p.siblings {
		base := p.source.BaseURL(op)
		if op.Method != method || base == nil {
			continue
		}
		same, known := bases[base.Host]
		if !known {
			same = origin.Same(base, u)
			bases[base.Host] = same
		}
		rest, below := job.Below(base, u)
		if !same || !below {
			continue
		}
		args, variables, ok := op.Match(rest, u.Query())
		switch {
		case !ok || len(found) > 0 && variables > least:
			continue
		case len(found) > 0 && variables < least:
			found = found[:0]
		}
		least = variables
		found = append(found, toldBy{op, args})
	}
	return found
}

// about checks that the caller may know the responses of all operations that an answer may come from, and adds their redaction
// to that of the next response. The error is a *failure that names the tool to use instead.
func (c *call) about(ctx context.Context, all []toldBy) error {
	c.hiding = nil
	for _, one := range all {
		p := c.endpoint.operations[one.operation]
		if err := c.mayKnow(ctx, p, one); err != nil {
			return err
		}
		if p != nil && p != c.plan && p.sensitive != nil {
			c.hiding = append(c.hiding, p.sensitive)
		}
	}
	return nil
}

// mayKnow checks that the caller may know the response of an operation; p is its plan at the endpoint, or nil if it has none
// there. The user can't be asked for consent here; an operator's rule that names the operation counts as consent.
func (c *call) mayKnow(ctx context.Context, p *Plan, one toldBy) error {
	named := c.plan.job.Names(one.operation) || c.plan.polled != nil && c.plan.polled.Names(one.operation)
	switch {
	case p == nil && named, requestInfoFrom(ctx).operator:
		return nil
	case p == nil:
		return c.untold(nil, nil)
	case c.endpoint.guard != nil && !c.endpoint.allows(c.caller, p):
		if c.endpoint.hideUnauthorized {
			return c.untold(nil, nil)
		}
		return c.untold(p, one.args)
	case p == c.plan && p.condition == nil:
		return nil
	case !named && p.asksUser() && !c.exempt(p):
		return c.untold(p, one.args)
	case p.condition == nil:
		return nil
	}
	args, _, err := p.Operation.Check(one.args)
	if err == nil {
		caller := c.caller
		if caller == nil && c.g.o.Local {
			caller = &auth.Principal{}
		}
		var ok bool
		if ok, err = p.permitted(ctx, caller, args); ok && err == nil {
			return nil
		}
	}
	return c.untold(p, one.args)
}

// asksUser reports whether calls of the plan need consent or input from the user.
func (p *Plan) asksUser() bool {
	return p.consent.needed || p.elicitation != nil && (p.elicitation.IsBroken() || p.elicitation.Always())
}

// exempt reports whether calls of the plan need nothing from the user but consent, and this caller is exempt from it.
func (c *call) exempt(p *Plan) bool {
	return p.elicitation == nil && len(p.consent.exempt) > 0 && c.endpoint.guard != nil && c.endpoint.guard.Allows(c.caller, p.consent.exempt)
}

// untold returns the failure for a caller that may not know the status or result of a job. It is not an error of the call,
// which has started the job.
func (c *call) untold(p *Plan, args json.RawMessage) error {
	text := c.plan.Tool.API + " tells of this job by "
	if p == nil || p.Tool.Hidden {
		text += "an operation that is no tool here"
	} else {
		text += fmt.Sprintf("what the tool %s gives with the arguments %s, which it does not give to this caller in this way", p.Tool.Name,
			truncate.Bytes(c.redactor().Text(string(jsonscan.AppendCompact(nil, args))), 200))
	}
	return &failure{outcome: telemetry.OutcomeJob, text: text + ". So it is not known here how it stands. Do not make the same call again, which would begin another job."}
}

// isUntold returns the failure for a caller that may not know about the job, or nil if err is another error.
func isUntold(err error) *failure {
	var f *failure
	if errors.As(err, &f) && f.outcome == telemetry.OutcomeJob {
		return f
	}
	return nil
}

// mayLook checks that the caller may poll the job at all, before a task is promised.
func (c *call) mayLook(b *job.Handle) error {
	switch r := c.plan.job.Status; {
	case c.plan.job.Callback != nil:
		return nil // reported by callback, as a rule without polling
	case r != nil && r.Operation != nil && b.Status != nil:
		return c.about(c.ctx, []toldBy{{r.Operation, b.Status}})
	case b.URL != nil:
		return c.about(c.ctx, c.plan.at(http.MethodGet, b.URL))
	}
	return nil
}
