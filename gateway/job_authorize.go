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

// What a service answers about a job is often the answer of an operation that has rules of its own: who may call it, and what is
// hidden of it. They hold here too, so that nobody gets by a job what he does not get by a call.

// toldBy is an operation whose answer is asked for, and the arguments of that call.
type toldBy struct {
	operation *openapi.Operation
	args      json.RawMessage
}

// at finds the operations of the API that a URL of its service is a call of. They are those with the fewest variables; more
// than one if it is not clear which is meant.
func (p *Plan) at(method string, u *url.URL) (found []toldBy) {
	least := 0
	bases := map[string]bool{}
	for _, op := range p.siblings {
		base := p.source.base(op)
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

// about makes sure that the caller may know what operations answer, which are all that an answer can be of, and that what is
// hidden of their answers is hidden of the next. The error is a *failure that says which tool tells.
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

// mayKnow tells whether the caller may know what an operation answers; p is its plan at the endpoint, nil: it has none there.
// Nobody can be asked for consent here; where the operator's rule names the operation, that is the consent.
func (c *call) mayKnow(ctx context.Context, p *Plan, one toldBy) error {
	named := c.plan.job.Names(one.operation) || c.plan.polled != nil && c.plan.polled.Names(one.operation)
	switch {
	case p == nil && named, requestInfoFrom(ctx).operator:
		return nil
	case p == nil:
		return c.untold(nil, nil)
	case c.endpoint.guard != nil && !c.endpoint.allows(c.caller, p):
		if c.endpoint.gen.config.Auth.HideUnauthorized {
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

// asksUser tells whether calls of the plan need something that only the user can give.
func (p *Plan) asksUser() bool {
	return p.consent.needed || p.elicitation != nil && (p.elicitation.IsBroken() || p.elicitation.Always())
}

// exempt tells whether consent is all that calls of the plan need of the user, and this caller needs none.
func (c *call) exempt(p *Plan) bool {
	return p.elicitation == nil && len(p.consent.exempt) > 0 && c.endpoint.guard != nil && c.endpoint.guard.Allows(c.caller, p.consent.exempt)
}

// untold is the failure of who may not know how a job stands or what came of it. It is no error of the call, which has begun the job.
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

// isUntold returns the failure that says that the caller may not know; nil: err is none.
func isUntold(err error) *failure {
	var f *failure
	if errors.As(err, &f) && f.outcome == telemetry.OutcomeJob {
		return f
	}
	return nil
}

// mayLook tells whether the caller may look at the job at all, before anything is promised.
func (c *call) mayLook(b *job.Handle) error {
	switch r := c.plan.job.Status; {
	case c.plan.job.Callback != nil:
		return nil // it is told without a look, as a rule
	case r != nil && r.Operation != nil && b.Status != nil:
		return c.about(c.ctx, []toldBy{{r.Operation, b.Status}})
	case b.URL != nil:
		return c.about(c.ctx, c.plan.at(http.MethodGet, b.URL))
	}
	return nil
}
