package gateway

import (
	"context"
	"encoding/json"
	"errors"

	"drawbridge/gateway/call"
	"drawbridge/gateway/console"
	"drawbridge/gateway/plan"
	"drawbridge/openapi"
)

// trials calls tools for the console, as the operator of the process does.
type trials struct{ tools *inProcess }

// Trial implements [console.Trials].
func (t trials) Trial(tool string) (console.TrialTool, bool) {
	p := t.tools.Plan(tool)
	if p == nil {
		return console.TrialTool{}, false
	}
	input, _ := p.Tool.Published(openapi.ProfileFull)
	return console.TrialTool{
		Name: p.Tool.Name, Title: p.Tool.Title, API: p.Tool.API, Method: p.Tool.Method, Path: p.Tool.Path, Input: input, Example: p.Tool.ExampleCall(),
		Confirm: p.Consent.Needed, Refused: whyNotTried(p),
	}, true
}

// whyNotTried returns why a tool can't be called without a user; "" if it can.
func whyNotTried(p *plan.Plan) string {
	switch personal := p.Source.Config.Personal(); {
	case personal != "":
		return "This tool can't be tried here: calls of its API carry the identity of a user or a token that the user passes (" + personal + "), and the console has neither."
	case p.Personal || len(p.Claims) > 0:
		return "This tool can't be tried here: its calls have arguments from the claims of a user's token, and the console has none."
	}
	return ""
}

// Request implements [console.Trials].
func (t trials) Request(ctx context.Context, tool string, args json.RawMessage) (call.Exchange, error) {
	p := t.tools.Plan(tool)
	if p == nil {
		return call.Exchange{}, errors.New("There is no such tool.") //nolint:staticcheck // a sentence of a page
	}
	r, err := p.Request(ctx, args)
	var unfit interface{ ToolMessage() string } // arguments that don't fit
	if errors.As(err, &unfit) {
		return call.Exchange{}, errors.New(p.Secrets.All(unfit.ToolMessage()))
	}
	if err != nil {
		return call.Exchange{}, errors.New(p.Secrets.All(err.Error()))
	}
	return call.Unsent(r, p.Source.Config.Request, p.Secrets), nil
}

// Try implements [console.Trials].
func (t trials) Try(ctx context.Context, actor, tool string, args json.RawMessage) (console.TrialResult, error) {
	if p := t.tools.Plan(tool); p != nil {
		if why := whyNotTried(p); why != "" {
			return console.TrialResult{}, errors.New(why)
		}
	}
	trial := &call.Trial{Actor: actor}
	result, cause, err := t.tools.call(ctx, tool, args, trial)
	r := console.TrialResult{Exchanges: trial.Exchanges(), Result: result}
	if cause != nil {
		r.Cause = cause.Error()
	}
	return r, err
}
