package call

import (
	"context"
	"encoding/json"
	"slices"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// validate asks the user for arguments if the plan has an elicitation, validates the arguments, completes them as rules
// demand, and evaluates the condition of the plan. Without any of these in the way, the arguments are validated when the request is built.
func (c *Call) validate(ctx context.Context) error {
	p, args, operator := c.Plan, c.Arguments, c.Origin.ByOperator()
	c.args = args
	if p.Arguments == nil && p.Claims == nil &&
		(p.Condition == nil && !p.Consent.Needed && p.Elicitation == nil && p.CallerOperation() == p.Requests || operator && (c.Origin == FromCommandLine || p.Condition == nil)) {
		return nil
	}
	var err error
	var dropped []string
	if e := p.Elicitation; e != nil && !operator {
		if e.IsBroken() {
			return &Failure{Outcome: telemetry.OutcomeUnanswered, Text: notAskedAtAll}
		}
		if args, dropped, err = e.Shown().Check(args); err != nil {
			return c.Failed(ctx, err)
		}
		c.addDropped(dropped)
		if args, err = c.elicitArguments(ctx, args); err != nil {
			return err
		}
	}
	if args, dropped, err = p.CallerOperation().Check(args); err != nil {
		return c.Failed(ctx, err)
	}
	c.addDropped(dropped)
	if err = c.checkClaims(); err == nil {
		args, err = p.Arguments.Complete(args, c.Caller.Principal)
	}
	if err != nil {
		return c.Failed(ctx, err)
	}
	c.args, c.Arguments = args, args
	if c.Origin == FromCommandLine {
		return nil
	}
	if ok, err := c.Permits(ctx, p, args); !ok {
		return &Failure{telemetry.OutcomeCondition, err, NotPermitted}
	}
	return nil
}

// checkClaims returns an error if the caller's token lacks a claim that every request of the API needs.
func (c *Call) checkClaims() error {
	for _, name := range c.Plan.Claims {
		if c.Caller.Principal.Claim(name) == nil {
			return &credential.ClaimError{Claim: name}
		}
	}
	return nil
}

// Permits reports whether the condition of a plan, if it has one, allows a call by the caller. The arguments must be
// those that the request is built from, so that one interpretation can't be permitted and another sent.
func (c *Call) Permits(ctx context.Context, p *plan.Plan, args json.RawMessage) (bool, error) {
	if p.Condition == nil {
		return true, nil
	}
	caller := c.Caller.Principal
	if caller == nil && (c.r.Local || c.Origin == FromConsole) {
		caller = &auth.Principal{} // an unknown principal: conditions on arguments hold nevertheless
	}
	return p.Permits(ctx, caller, args)
}

// addDropped records arguments that counted as absent, see [openapi.Operation.Check].
func (c *Call) addDropped(pointers []string) {
	if len(pointers) == 0 {
		return
	}
	c.Dropped = append(slices.Clone(c.Dropped), pointers...)
	slices.Sort(c.Dropped)
	c.Dropped = slices.Compact(c.Dropped)
	c.unsent = nil
	for _, pointer := range c.Dropped {
		if c.Plan.Requests.InBody(pointer) {
			c.unsent = append(c.unsent, pointer)
		}
	}
}

// Prepare validates the arguments of a call, and asks the user, for one that may not be made once its arguments are known. The returned
// invocation has them. The error is a [*Failure], which is recorded, or one for the client.
func (r *Runner) Prepare(ctx context.Context, inv Invocation) (prepared Invocation, err error) {
	c := r.New(ctx, inv)
	if err := c.prepare(ctx); err != nil {
		if err = c.conclude(err); err == nil {
			err = c.out.Failure
		}
		c.close(err)
		return Invocation{}, err
	}
	c.Policy.Arguments = Prepared
	return c.Invocation, nil
}
