package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
	"drawbridge/openapi/jsonscan"
)

// consent says whether the calls of a plan wait for the user's consent, and what becomes of those that can't.
type consent struct {
	needed bool
	refuse bool     // who can't be asked is refused
	exempt []string // scopes with which nobody is asked
}

func consentOf(c *config.Config, set config.Settings, destructive bool) consent {
	needed := c.Tools.Confirm == config.ConfirmDestructive && destructive
	if set.Confirm != nil {
		needed = *set.Confirm
	}
	return consent{needed: needed, refuse: c.Tools.Unconfirmed != config.UnconfirmedAllow, exempt: c.Tools.UnconfirmedScopes}
}

// Texts for the model, of calls that were not made.
const (
	notConfirmed = "The user did not agree to this call. Nothing was sent. Do not call again without being told to; ask the user what to do instead."
	notAsked     = "The user has not decided on this call. Nothing was sent. Tell the user what you would do, and call again when asked to."
	notAskable   = "This call needs the user's consent, and this client can't ask for it (it does not support elicitation). Nothing was sent. " +
		"Tell the user that the call has to be made in another way."
)

// confirm asks the user for consent to a call whose arguments are right. Without it the error is a *failure; that of the
// answer, which [mcp.ErrAsked] is too, comes as it is.
func (c *call) confirm(ctx context.Context, args json.RawMessage) error {
	p := c.plan
	if len(p.consent.exempt) > 0 && c.endpoint.guard != nil && c.endpoint.guard.Allows(c.caller, p.consent.exempt) {
		return nil
	}
	answers, err := c.reply.Ask(ctx, mcp.Round{Once: true, Questions: []mcp.Question{{Key: "confirm", Kind: mcp.Elicit, Params: p.question(args)}}})
	var unable *mcp.UnableError
	switch {
	case errors.As(err, &unable) && p.consent.refuse:
		return &failure{outcomeUnconfirmed, err, notAskable}
	case errors.As(err, &unable):
		return nil
	case err != nil:
		return err
	}
	switch a := answers["confirm"]; {
	case a.Action == mcp.Declined, a.Action == mcp.Accepted && !agreed(a.Value):
		return &failure{outcome: outcomeUnconfirmed, text: notConfirmed}
	case a.Action != mcp.Accepted:
		return &failure{outcome: outcomeUnconfirmed, text: notAsked}
	}
	return nil
}

// agreed reads the form. The schema requires the box, so a form without it is no consent: a client that accepts what
// it has not shown, or has not understood, sends an empty one.
func agreed(form json.RawMessage) bool {
	return string(jsonscan.Lookup(form, "go_ahead")) == "true"
}

// maxShown is the most bytes of arguments that a question shows.
const maxShown = 600

// question is what the user is asked: the tool's title, the operation and the arguments as they will be sent. What comes
// from the caller stands behind what does not, so that it can't pass for the gateway's words.
func (p *Plan) question(args json.RawMessage) []byte {
	message := fmt.Sprintf("Allow %s? It is %s %s of %s, with the arguments %s", p.title(), p.Operation.Method, p.Operation.Path, p.Tool.API, shownArguments(args))
	dst := jsonscan.AppendString([]byte(`"message":`), message)
	return append(dst, `,"requestedSchema":{"type":"object","properties":{"go_ahead":{"type":"boolean","title":"Go ahead","default":false}},"required":["go_ahead"]}`...)
}

// shownArguments returns arguments as a person sees all of them, or the beginning if they are long.
func shownArguments(args json.RawMessage) []byte {
	shown := visible(jsonscan.AppendCompact(nil, args))
	if len(shown) <= maxShown {
		return shown
	}
	cut := maxShown
	for !utf8.RuneStart(shown[cut]) {
		cut--
	}
	return fmt.Appendf(shown[:cut:cut], "… (%d bytes)", len(shown))
}

// visible writes the characters of a JSON text that a person doesn't see as escapes: arguments may come from a page that the
// model has read, and what is sent must be what was shown (S8).
func visible(text []byte) []byte {
	if !bytes.ContainsFunc(text, unseen) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if !unseen(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// unseen tells of a character that has no picture of its own: control and format characters, of which some turn the order
// of others around, selectors of variants, fillers, and what is not assigned.
func unseen(r rune) bool {
	return !unicode.IsPrint(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// title is the tool's title, or else its name.
func (p *Plan) title() string {
	if title := strings.TrimSpace(p.Tool.Title); title != "" {
		return fmt.Sprintf("%q (%s)", title, p.Tool.Name)
	}
	return p.Tool.Name
}
