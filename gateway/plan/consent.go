package plan

import (
	"drawbridge/config"
	"drawbridge/gateway/elicit"
)

// Consent defines whether calls need the user's consent, and what happens to calls whose client can't ask for it.
type Consent struct {
	// Needed means that the user must agree to each call.
	Needed bool
	// Refuse makes calls fail whose client can't ask.
	Refuse bool
	// Exempt are the scopes whose callers need no consent.
	Exempt []string
}

// NewConsent returns the consent that calls of an operation need.
func NewConsent(c *config.Config, set config.Settings, destructive bool) Consent {
	needed := c.Tools.Confirm == config.ConfirmDestructive && destructive
	if set.Confirm != nil {
		needed = *set.Confirm
	}
	return Consent{Needed: needed, Refuse: c.Tools.Unconfirmed != config.UnconfirmedAllow, Exempt: c.Tools.UnconfirmedScopes}
}

// asksUser reports whether calls need consent or input from the user.
func asksUser(c Consent, e *elicit.Operation) bool {
	return c.Needed || e != nil && (e.IsBroken() || e.Always())
}
