package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"drawbridge/config"
	"drawbridge/gateway/elicit"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/telemetry"
)

// consent defines whether calls of a plan need the user's consent, and what happens to calls whose client can't ask for it.
type consent struct {
	needed bool
	refuse bool     // a call is refused if the client can't ask
	exempt []string // scopes whose callers need no consent
}

func consentOf(c *config.Config, set config.Settings, destructive bool) consent {
	needed := c.Tools.Confirm == config.ConfirmDestructive && destructive
	if set.Confirm != nil {
		needed = *set.Confirm
	}
	return consent{needed: needed, refuse: c.Tools.Unconfirmed != config.UnconfirmedAllow, exempt: c.Tools.UnconfirmedScopes}
}

// Texts for the model about calls that were not made.
const (
	notConfirmed = "The user did not agree to this call. Nothing was sent. Do not call again without being told to; ask the user what to do instead."
	notAsked     = "The user has not decided on this call. Nothing was sent. Tell the user what you would do, and call again when asked to."
	notAskable   = "This call needs the user's consent, and this client can't ask for it (it does not support elicitation). Nothing was sent. " +
		"Tell the user that the call has to be made in another way."
)

// confirm asks the user for consent to a call whose arguments are valid. Without consent the error is a *failure; protocol
// errors, such as [mcp.ErrInputRequired], are returned unchanged.
func confirm(ctx context.Context, p *Plan, reply *mcp.Reply, args json.RawMessage) error {
	err := elicit.Confirm(ctx, reply, &elicit.Call{Title: p.title(), Method: p.Operation.Method, Path: p.Operation.Path, API: p.Tool.API, Args: args})
	var unable *mcp.ClientUnsupportedError
	switch {
	case errors.As(err, &unable) && p.consent.refuse:
		return &failure{telemetry.OutcomeUnconfirmed, err, notAskable}
	case errors.As(err, &unable):
		return nil
	case errors.Is(err, elicit.ErrDeclined):
		return &failure{outcome: telemetry.OutcomeUnconfirmed, text: notConfirmed}
	case errors.Is(err, elicit.ErrUndecided):
		return &failure{outcome: telemetry.OutcomeUnconfirmed, text: notAsked}
	}
	return err
}
