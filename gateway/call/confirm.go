package call

import (
	"context"
	"encoding/json"
	"errors"

	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// confirm asks the user for consent if the plan needs it and the caller is not exempt.
func (c *Call) confirm(ctx context.Context) error {
	if !c.Plan.Consent.Needed || c.Origin.ByOperator() || c.HasStandingConsent(c.Plan) {
		return nil
	}
	return confirm(ctx, c.Plan, c.dialogue(), c.Plan.Arguments.Shown(c.Arguments))
}

// HasStandingConsent reports whether the caller is exempt from consent to calls of a plan.
func (c *Call) HasStandingConsent(p *plan.Plan) bool {
	return len(p.Consent.Exempt) > 0 && c.Endpoint.Guard != nil && c.Endpoint.Guard.Allows(c.Caller.Principal, p.Consent.Exempt)
}

// Texts for the model about calls that were not made.
const (
	notConfirmed = "The user did not agree to this call. Nothing was sent. Do not call again without being told to; ask the user what to do instead."
	notAsked     = "The user has not decided on this call. Nothing was sent. Tell the user what you would do, and call again when asked to."
	notAskable   = "This call needs the user's consent, and this client can't ask for it (it does not support elicitation). Nothing was sent. " +
		"Tell the user that the call has to be made in another way."
)

// confirm asks the user for consent to a call whose arguments are valid. Without consent the error is a [*Failure]; protocol
// errors, such as an [*mcp.InputRequired], are returned unchanged.
func confirm(ctx context.Context, p *plan.Plan, d *elicit.Dialogue, args json.RawMessage) error {
	err := elicit.Confirm(ctx, d, &elicit.Call{Title: p.Title(), Method: p.Tool.Method, Path: p.Tool.Path, API: p.Tool.API, Args: args})
	var unable *mcp.ClientUnsupportedError
	switch {
	case errors.As(err, &unable) && p.Consent.Refuse:
		return &Failure{telemetry.OutcomeUnconfirmed, err, notAskable}
	case errors.As(err, &unable):
		return nil
	case errors.Is(err, elicit.ErrDeclined):
		return &Failure{Outcome: telemetry.OutcomeUnconfirmed, Text: notConfirmed}
	case errors.Is(err, elicit.ErrUndecided):
		return &Failure{Outcome: telemetry.OutcomeUnconfirmed, Text: notAsked}
	}
	return err
}
