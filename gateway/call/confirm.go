package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/plan"
	"drawbridge/gateway/telemetry"
)

// confirm asks the user for consent if the plan needs it and the caller is not exempt.
func (c *Call) confirm(ctx context.Context) error {
	if c.Consented || !c.NeedsConsent(c.Plan) {
		return nil
	}
	p := c.Plan
	asked := &elicit.Call{Title: p.Title(), Method: p.Tool.Method, Path: p.Tool.Path, API: p.Tool.API, Args: p.WithServer(p.Arguments.Shown(c.Arguments))}
	return confirm(ctx, p.Consent.Refuse, c.dialogue(), asked)
}

// NeedsConsent reports whether the user must agree to a call of a plan by the caller of c.
func (c *Call) NeedsConsent(p *plan.Plan) bool {
	return p.Consent.Needed && !c.Origin.ByOperator() && !c.HasStandingConsent(p)
}

// Consent asks the user once for consent to calls of the plans now, which need it, that the tool makes in steps, with the arguments of c; title
// names the tool. It is not asked for those of later, which ask themselves, but a client that can't be asked is refused before anything is sent. The
// error is that of a step of Run.
func (c *Call) Consent(ctx context.Context, title string, now, later []*plan.Plan) error {
	for _, p := range later {
		if c.NeedsConsent(p) && p.Consent.Refuse {
			if err := c.Client.CanElicit(mcp.ElicitForm); err != nil {
				return &Failure{telemetry.OutcomeUnconfirmed, err, notAskable}
			}
		}
	}
	if len(now) == 0 {
		return nil
	}
	asked, refuse := &elicit.Call{Title: title, Args: c.shown()}, false
	for _, p := range now {
		asked.Steps, refuse = append(asked.Steps, fmt.Sprintf("%s %s of %s", p.Tool.Method, p.Tool.Path, p.Tool.API)), refuse || p.Consent.Refuse
	}
	return confirm(ctx, refuse, c.dialogue(), asked)
}

// shown returns the arguments of a tool as its user may see them.
func (c *Call) shown() json.RawMessage {
	redaction := c.Tool.Redaction()
	return redaction.shownArguments(c.Arguments)
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
// errors, such as an [*mcp.InputRequired], are returned unchanged. refuse decides about a client that can't ask.
func confirm(ctx context.Context, refuse bool, d *elicit.Dialogue, asked *elicit.Call) error {
	err := elicit.Confirm(ctx, d, asked)
	var unable *mcp.ClientUnsupportedError
	switch {
	case errors.As(err, &unable) && refuse:
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
