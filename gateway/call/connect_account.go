package call

import (
	"context"
	"errors"
	"fmt"

	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// connectAccount asks the user to connect an account at the service if the plan needs one that the caller does not have. The user does that
// in the browser; the response to the question only says that the user has seen it.
func (c *Call) connectAccount(ctx context.Context) error {
	a := c.Plan.Account()
	if a == nil {
		return nil
	}
	p := c.Caller.Principal
	connected, err := a.Service.Connected(ctx, p, a.Scopes)
	switch {
	case err != nil:
		return c.Failed(ctx, err)
	case connected:
		return nil
	}
	link := a.Service.Link(ctx, p, a.Scopes)
	if link == "" {
		return &Failure{Outcome: telemetry.OutcomeUnanswered, Text: noAccountPossible}
	}
	fail := func(format string) error {
		return &Failure{Outcome: telemetry.OutcomeUnanswered, Text: fmt.Sprintf(format, c.Plan.Tool.API, link)}
	}
	if !c.Origin.canAsk() {
		return fail(accountLink)
	}
	action, err := elicit.AskAccount(ctx, c.dialogue(), c.Plan.Tool.API, c.Plan.Title(), link)
	var unable *mcp.ClientUnsupportedError
	switch {
	case errors.As(err, &unable):
		return fail(accountLink) // without the cause, which would stand for the link where it names the missing capability
	case err != nil:
		return err
	case action == mcp.Accepted:
		return fail(accountPending)
	case action == mcp.Declined:
		return &Failure{Outcome: telemetry.OutcomeUnanswered, Text: accountDeclined}
	}
	return fail(accountLink)
}

// Texts for the model about calls that need an account. The first argument is the name of the API, the second the link.
const (
	accountLink = "The user has no account of %s connected, or has to connect it again. Nothing was sent to the service. Show the user this link, " +
		"which works for this user alone and for 15 minutes: %s Call again once the user has signed in there."
	accountPending = "The user has not finished signing in at %s. Nothing was sent to the service. Call again once the user says that the account is connected; " +
		"if the page is gone, this is another link: %s"
	accountDeclined = "The user declined to connect an account at the service. Nothing was sent. Do not call again without being told to; ask the user what to do instead."
	// noAccountPossible is for callers whose issuer is not one at which the gateway logs users in.
	noAccountPossible = "The service knows each user by an own account, and the gateway can't connect one for this caller: it signs in no users of the issuer of its token. " +
		"Nothing was sent to the service. Repeating the call does not help: tell the user that the operator of the gateway can change that."
)
