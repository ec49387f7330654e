package call

import (
	"context"
	"encoding/json"
	"errors"

	"drawbridge/auth"
	"drawbridge/auth/credential"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// validate asks the user for arguments if the plan has an elicitation, validates the arguments, completes them as rules
// demand, and evaluates the condition of the plan. Without any of these in the way, the arguments are validated when the request is built.
func (c *Call) validate(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	p := c.Plan
	c.args = args
	info := InfoFrom(ctx)
	operator := info.Operator
	c.trial = info.Trial
	if p.Arguments == nil && p.Claims == nil &&
		(p.Condition == nil && !p.Consent.Needed && p.Elicitation == nil && p.CallerOperation() == p.Requests || operator && (c.trial == nil || p.Condition == nil)) {
		return args, nil
	}
	var err error
	var dropped []string
	if e := p.Elicitation; e != nil && !operator {
		if e.IsBroken() {
			return nil, &Failure{Outcome: telemetry.OutcomeUnanswered, Text: notAskedAtAll}
		}
		if args, dropped, err = e.Shown().Check(args); err != nil {
			return nil, c.failed(ctx, err)
		}
		c.addDropped(dropped)
		if args, err = elicitArguments(ctx, p, c.Request, c.reply, args); err != nil {
			return nil, c.elicitationFailure(ctx, err)
		}
	}
	if args, dropped, err = p.CallerOperation().Check(args); err != nil {
		return nil, c.failed(ctx, err)
	}
	c.addDropped(dropped)
	if err = c.checkClaims(); err == nil {
		args, err = p.Arguments.Complete(args, c.Caller)
	}
	if err != nil {
		return nil, c.failed(ctx, err)
	}
	c.args = args
	if operator && c.trial == nil {
		return args, nil
	}
	if ok, err := c.permitted(ctx, p, args); !ok {
		return nil, &Failure{telemetry.OutcomeCondition, err, NotPermitted}
	}
	return args, nil
}

// checkClaims returns an error if the caller's token lacks a claim that every request of the API needs.
func (c *Call) checkClaims() error {
	for _, name := range c.Plan.Claims {
		if c.Caller.Claim(name) == nil {
			return &credential.ClaimError{Claim: name}
		}
	}
	return nil
}

// confirm asks the user for consent if the plan needs it and the caller is not exempt.
func (c *Call) confirm(ctx context.Context, args json.RawMessage) error {
	if !c.Plan.Consent.Needed || InfoFrom(ctx).Operator || c.hasStandingConsent(c.Plan) {
		return nil
	}
	if err := confirm(ctx, c.Plan, c.reply, c.Plan.Arguments.Shown(args)); err != nil {
		return c.elicitationFailure(ctx, err)
	}
	return nil
}

// hasStandingConsent reports whether the caller is exempt from consent to calls of a plan.
func (c *Call) hasStandingConsent(p *plan.Plan) bool {
	return len(p.Consent.Exempt) > 0 && c.Endpoint.Guard != nil && c.Endpoint.Guard.Allows(c.Caller, p.Consent.Exempt)
}

// permitted reports whether the condition of a plan, if it has one, allows a call by the caller. The arguments must be
// those that the request is built from, so that one interpretation can't be permitted and another sent.
func (c *Call) permitted(ctx context.Context, p *plan.Plan, args json.RawMessage) (bool, error) {
	if p.Condition == nil {
		return true, nil
	}
	caller := c.Caller
	if caller == nil && (c.r.Local || c.trial != nil) {
		caller = &auth.Principal{} // an unknown principal: conditions on arguments hold nevertheless
	}
	return p.Permits(ctx, caller, args)
}

// elicitationFailure converts the error of an elicitation, including [mcp.ErrInputRequired], to the error of the call. Any error
// that is not a [*Failure] is the error of the answer.
func (c *Call) elicitationFailure(ctx context.Context, err error) error {
	var full *mcp.ElicitationLimitError
	switch {
	case errors.Is(err, mcp.ErrInputRequired):
		c.Done(ctx, telemetry.OutcomeAsked, nil)
	case errors.As(err, &full) && full.TooLarge:
		return &Failure{telemetry.OutcomeUnanswered, err, tooLargeToWait}
	default:
		if because, _ := c.r.RejectWait(err); because != "" {
			c.countRejected(telemetry.OutcomeLimited)
		}
	}
	return err
}

// tooLargeToWait is the text for the model if the arguments are too large to be stored while the user is asked.
const tooLargeToWait = "This call has to ask the user something, and its arguments are too large to be kept until there is an answer. Nothing was sent. " +
	"Call again with less in the arguments; if that can't be, tell the user that the call has to be made in another way."

// takeFields takes the list of fields that the model wants from the arguments of a call. A list that is wrong fails the call
// when its arguments are validated.
func (c *Call) takeFields() {
	var err error
	if c.Request.Arguments, c.fields, err = c.Plan.Projection.TakeFields(c.Request.Arguments); err != nil {
		c.fieldsFault = &Failure{Outcome: telemetry.OutcomeArguments, Text: "The arguments are wrong, and nothing was sent. " + plan.SelectArgument + ": " + err.Error() +
			". Write paths of fields separated by commas, such as items.id,items.owner.name, or leave it out."}
	}
}
